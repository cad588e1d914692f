// expect: robust
// nodes: 3
// races: none
// Everybody reads what it has received itself.
#include <assert.h>
#include <shmem.h>

static long source[2], dest[2];
static long psync[SHMEM_BCAST_SYNC_SIZE];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    if (shmem_my_pe() == 0) {
        source[0] = 7;
        source[1] = 8;
    }
    shmem_barrier_all();
    shmem_broadcast64(dest, source, 2, 0, 0, 0, shmem_n_pes(), psync);
    if (shmem_my_pe() != 0)
        assert(dest[0] == 7 && dest[1] == 8);
    shmem_finalize();
    return 0;
}
