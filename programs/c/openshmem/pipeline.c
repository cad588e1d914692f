// expect: robust
// nodes: 4
// races: none
// The point-to-point pipeline: each PE waits for its left neighbour's value, adds its own and passes it on.
#include <shmem.h>
#include <stdio.h>

#define ITEMS 2

static long value[ITEMS];
static long ready[ITEMS];

int main(void)
{
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (int i = 0; i < ITEMS; i++) {
        if (me > 0)
            shmem_long_wait_until(&ready[i], SHMEM_CMP_EQ, 1);
        value[i] += me;
        if (me < n - 1) {
            shmem_long_put(&value[i], &value[i], 1, me + 1);
            shmem_fence();
            shmem_long_p(&ready[i], 1, me + 1);
        }
    }
    shmem_barrier_all();
    if (me == n - 1)
        printf("%ld\n", value[ITEMS - 1]);
    shmem_finalize();
    return 0;
}
