// expect: robust
// nodes: 2
// races: none
// As histogram, with atomics that give the old count, which nobody uses: they fetch, and are reads of the bins all the
// same. Each is done when the call returns, so the order of a PE's own is kept: add -> next add -> barrier -> load.
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
        shmem_int_atomic_fetch_add(&bins[bin / npes], 1, bin % npes);
    }
    shmem_barrier_all();
    printf("%d: %d\n", me, bins[0]);
    shmem_finalize();
    return 0;
}
