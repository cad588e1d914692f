// expect: not robust
// nodes: 3
// races: 1 pair
// A fence orders puts to each PE by itself and completes nothing. PE 2 sees the flag, and the data may not have
// reached PE 1: get of data -> put of data -> put of flag -> wait -> get.
#include <shmem.h>
#include <stdio.h>

static int data;
static int flag;

int main(void)
{
    int me, seen = 0;

    shmem_init();
    me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&data, 42, 1);
        shmem_fence();
        shmem_int_p(&flag, 1, 2);
    } else if (me == 2) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        seen = shmem_int_g(&data, 1);
        printf("%d\n", seen);
    }
    shmem_finalize();
    return 0;
}
