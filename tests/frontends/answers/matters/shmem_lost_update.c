// nodes: 2
// Both PEs read the counter, add one and write it back; one of the two may be lost.
#include <shmem.h>
#include <stdio.h>

static int counter;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
#ifdef REPAIRED
    shmem_int_atomic_inc(&counter, 0);
#else
    shmem_int_p(&counter, shmem_int_g(&counter, 0) + 1, 0);
#endif
    shmem_barrier_all();
    if (me == 0)
        printf("%d\n", counter);
    shmem_finalize();
    return 0;
}
