// expect: not robust
// nodes: 2
// races: 1 pair
// What shmem_int_inc adds may come behind the barrier of shmem_sync_all.
#include <shmem.h>
#include <stdio.h>

static int count;

int main(void)
{
    shmem_init();
    shmem_int_atomic_inc(&count, 0);
    shmem_sync_all();
    if (shmem_my_pe() == 0)
        printf("%d\n", count);
    shmem_finalize();
    return 0;
}
