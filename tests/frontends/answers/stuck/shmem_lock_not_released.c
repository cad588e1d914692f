// nodes: 2
// The lock is taken by compare-and-swap and never given back, so the second PE spins.
#include <shmem.h>
#include <stdio.h>

static int lock, counter;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    while (shmem_int_atomic_compare_swap(&lock, 0, 1, 0) != 0)
        ;
    shmem_int_p(&counter, shmem_int_g(&counter, 0) + 1, 0);
    shmem_quiet();
#ifdef REPAIRED
    shmem_int_atomic_set(&lock, 0, 0);
#endif
    shmem_barrier_all();
    if (me == 0)
        printf("%d\n", counter);
    shmem_finalize();
    return 0;
}
