// expect: not robust
// nodes: 2
// races: 1 pair
// An MCS lock that is released while the put of the critical section is under way.
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
    release(me);
    shmem_finalize();
    return 0;
}
