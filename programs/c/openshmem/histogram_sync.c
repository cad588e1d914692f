// expect: not robust
// nodes: 2
// races: 1 pair
// As histogram, but shmem_sync_all completes nothing: a bin may be read before an addition has arrived, which conflicts
// with it. load -> add by the conflict, add -> sync -> load by program order.
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
    shmem_sync_all();
    printf("%d: %d\n", me, bins[0]);
    shmem_finalize();
    return 0;
}
