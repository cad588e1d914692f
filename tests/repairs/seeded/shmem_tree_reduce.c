// nodes: 4
// A sum up a binomial tree: each PE gives its partial sum to its parent and counts itself in there.
#include <shmem.h>
#include <assert.h>

#define LEVELS 2

static long partial[LEVELS];
static long arrived[LEVELS];

static long reduce(long mine)
{
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    long sum = mine;

    for (int level = 0, step = 1; step < npes; level++, step *= 2) {
        if (me % (2 * step) != 0) {
            shmem_long_put(&partial[level], &sum, 1, me - step);
            shmem_quiet(); // seeded (completion, 1 loop): remove
            shmem_long_atomic_inc(&arrived[level], me - step);
            break;
        }
        if (me + step < npes) {
            shmem_long_wait_until(&arrived[level], SHMEM_CMP_EQ, 1);
            sum += partial[level];
        }
    }
    return sum;
}

int main(void)
{
    shmem_init();
    const long sum = reduce(shmem_my_pe() + 1);
    if (shmem_my_pe() == 0)
        assert(sum == (long) shmem_n_pes() * (shmem_n_pes() + 1) / 2);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
