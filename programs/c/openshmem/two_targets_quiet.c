// expect: robust
// nodes: 3
// races: none
// A quiet waits until the data is at PE 1 before the flag goes to PE 2.
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
        shmem_quiet();
        shmem_int_p(&flag, 1, 2);
    } else if (me == 2) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        seen = shmem_int_g(&data, 1);
        printf("%d\n", seen);
    }
    shmem_finalize();
    return 0;
}
