// expect: robust
// nodes: 4
// races: none
// The even PEs form a team, add up their numbers, and tell PE 1.
#include <assert.h>
#include <shmem.h>

static int mine, sum, result;

int main(void)
{
    shmem_team_t even;
    int me;

    shmem_init();
    me = shmem_my_pe();
    mine = me;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (shmem_n_pes() + 1) / 2, NULL, 0, &even);
    if (even != SHMEM_TEAM_INVALID) {
        shmem_int_sum_reduce(even, &sum, &mine, 1);
        if (shmem_team_my_pe(even) == 0)
            shmem_int_p(&result, sum, 1);
        shmem_team_destroy(even);
    }
    shmem_barrier_all();
    if (me == 1)
        assert(result == 2);
    shmem_finalize();
    return 0;
}
