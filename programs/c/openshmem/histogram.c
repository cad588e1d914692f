// expect: robust
// expect with all conflicts: not robust
// nodes: 2
// races: none
// Every PE counts its values in bins that lie on all PEs. The additions fetch nothing, so it does not matter which of two
// to one bin comes first; the barrier completes them before anybody looks. As conflicts they make a cycle over two bins:
// add (PE 0) -> add (PE 1) -> add to the other bin (PE 1) -> add to it (PE 0) -> add (PE 0).
#include <shmem.h>
#include <stdio.h>

static const int values[2][2] = {{0, 1}, {1, 0}};
static int bins[1];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    for (int i = 0; i < 2; i++) {
        int bin = values[me][i];
        shmem_int_atomic_add(&bins[bin / npes], 1, bin % npes);
    }
    shmem_barrier_all();
    printf("%d: %d\n", me, bins[0]);
    shmem_finalize();
    return 0;
}
