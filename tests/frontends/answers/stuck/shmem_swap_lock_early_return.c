// nodes: 2
// A swap lock that is not released on the way on which there is nothing to do.
#include <shmem.h>
#include <stdio.h>

static int lock, work = 1;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    while (shmem_int_atomic_swap(&lock, 1, 0) == 1)
        ;
    if (shmem_int_g(&work, 0)) {
        shmem_int_p(&work, 0, 0);
        shmem_quiet();
#ifndef REPAIRED
        shmem_int_atomic_set(&lock, 0, 0);
#endif
    }
#ifdef REPAIRED
    shmem_int_atomic_set(&lock, 0, 0);
    shmem_quiet();
#endif
    while (shmem_int_atomic_swap(&lock, 1, 0) == 1)
        ;
    shmem_int_atomic_set(&lock, 0, 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
