// expect: robust
// nodes: 3
// races: none
// Each PE puts its slot and then adds to a counter behind a fence; who counts all of them finds all slots.
#include <assert.h>
#include <shmem.h>

static int slot[3];
static int counter;

int main(void)
{
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    shmem_int_p(&slot[me], me + 1, 0);
    shmem_fence();
    shmem_int_atomic_inc(&counter, 0);
    if (me == 0) {
        shmem_int_wait_until(&counter, SHMEM_CMP_EQ, n);
        for (int i = 0; i < n; i++)
            assert(slot[i] == i + 1);
    }
    shmem_finalize();
    return 0;
}
