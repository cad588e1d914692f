// expect: robust
// nodes: 2
// races: none
// A put that has read its source when it returns.
#include <shmem.h>
#include <stdio.h>

static int buffer, slot[2];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        for (int round = 0; round < 2; round++) {
            buffer = 7 + round;
            shmem_int_put(&slot[round], &buffer, 1, 1);
        }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%d %d\n", slot[0], slot[1]);
    shmem_finalize();
    return 0;
}
