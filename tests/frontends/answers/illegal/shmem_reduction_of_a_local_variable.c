// nodes: 2
// The value that is reduced lies on the stack.
#include <shmem.h>

static int sum;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
#ifdef REPAIRED
    static int own;
    own = me;
#else
    int own = me;
#endif
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &own, 1);
    shmem_finalize();
    return 0;
}
