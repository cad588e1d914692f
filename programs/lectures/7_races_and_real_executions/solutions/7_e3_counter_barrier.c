// expect: robust
// nodes: 2
// races: none
// shmem_barrier_all completes, and then waits for all.
#include <shmem.h>
#include <stdio.h>

static int count;

int main(void)
{
    shmem_init();
    shmem_int_atomic_inc(&count, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%d\n", count);
    shmem_finalize();
    return 0;
}
