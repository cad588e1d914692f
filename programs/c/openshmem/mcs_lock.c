// expect: robust
// nodes: 2
// races: none
// The MCS lock: a queue of PEs whose tail is at PE 0; each waits on a flag of its own.
#include <shmem.h>

#define NOBODY (-1)

static int tail = NOBODY;
static int next = NOBODY;
static int locked;
static long total;

static void acquire(int me)
{
    int before;

    next = NOBODY;
    locked = 1;
    before = shmem_int_atomic_swap(&tail, me, 0);
    if (before != NOBODY) {
        shmem_int_p(&next, me, before);
        shmem_int_wait_until(&locked, SHMEM_CMP_EQ, 0);
    }
}

static void release(int me)
{
    if (shmem_int_atomic_compare_swap(&tail, me, NOBODY, 0) == me)
        return;
    shmem_int_wait_until(&next, SHMEM_CMP_NE, NOBODY);
    shmem_int_p(&locked, 0, next);
}

int main(void)
{
    int me;

    shmem_init();
    me = shmem_my_pe();
    acquire(me);
    shmem_long_p(&total, shmem_long_g(&total, 0) + 1, 0);
    shmem_quiet();
    release(me);
    shmem_finalize();
    return 0;
}
