// expect: robust
// nodes: 4
// races: none
// Sums over all PEs and over the even ones.
#include <assert.h>
#include <shmem.h>

static int mine, sum, even;
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long psync[SHMEM_REDUCE_SYNC_SIZE], psync2[SHMEM_REDUCE_SYNC_SIZE];

int main(void)
{
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = psync2[i] = SHMEM_SYNC_VALUE;
    mine = me + 1;
    shmem_barrier_all();
    shmem_int_sum_to_all(&sum, &mine, 1, 0, 0, n, work, psync);
    assert(sum == n * (n + 1) / 2);
    if (me % 2 == 0) {
        shmem_int_max_to_all(&even, &mine, 1, 0, 1, n / 2, work, psync2);
        assert(even == n - 1);
    }
    shmem_finalize();
    return 0;
}
