// nodes: 2
// Only PE 0 comes to the barrier in the branch.
#include <shmem.h>
#include <stdio.h>

static int x;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0) {
        shmem_int_p(&x, 1, 1);
#ifndef REPAIRED
        shmem_barrier_all();
#endif
    }
#ifdef REPAIRED
    shmem_barrier_all();
#endif
    if (me == 1)
        printf("%d\n", x);
    shmem_finalize();
    return 0;
}
