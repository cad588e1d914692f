// nodes: 2
// The buffer has been given back when PE 0 puts into it.
#include <shmem.h>
#include <stdio.h>


int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    int *buffer = shmem_malloc(sizeof(int));
#ifdef REPAIRED
    if (me == 0)
        shmem_int_p(buffer, 3, 1);
    shmem_barrier_all();
    shmem_free(buffer);
#else
    shmem_free(buffer);
    if (me == 0)
        shmem_int_p(buffer, 3, 1);
    shmem_barrier_all();
#endif
    shmem_finalize();
    return 0;
}
