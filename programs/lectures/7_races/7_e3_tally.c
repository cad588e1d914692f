// expect: not robust
// nodes: 2
// races: 1 pair
// Both add atomically, which is no race, but the total is read by a plain load while an addition may be under way.
#include <shmem.h>
#include <stdio.h>

static long total;

int main(void)
{
    shmem_init();
    shmem_long_atomic_add(&total, 1, 0);
    shmem_sync_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", total);
    shmem_finalize();
    return 0;
}
