// nodes: 2
// The memory is given back twice.
#include <shmem.h>
#include <stdio.h>


int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    int *buffer = shmem_malloc(sizeof(int));
    shmem_free(buffer);
#ifndef REPAIRED
    shmem_free(buffer);
#endif
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
