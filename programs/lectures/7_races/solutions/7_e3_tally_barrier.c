// expect: robust
// nodes: 2
// races: none
// A barrier that completes all additions comes before the plain load.
#include <shmem.h>
#include <stdio.h>

static long total;

int main(void)
{
    shmem_init();
    shmem_long_atomic_add(&total, 1, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", total);
    shmem_finalize();
    return 0;
}
