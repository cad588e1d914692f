// nodes: 2
// A halo in two steps with one barrier a step: the next put may arrive before the neighbour has used the last
// one.
#include <shmem.h>
#include <stdio.h>

static int here = 1, halo, sum;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    for (int step = 1; step <= 2; step++) {
        shmem_int_p(&halo, me + step, 1 - me);
        shmem_barrier_all();
        sum += halo;
#ifdef REPAIRED
        shmem_barrier_all();
#endif
    }
    printf("%d %d\n", here, sum);
    shmem_finalize();
    return 0;
}
