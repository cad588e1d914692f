// nodes: 2
// The result is an element further on in the array that is reduced.
#include <shmem.h>

static int array[3];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 3; i++)
        array[i] = me;
#ifdef REPAIRED
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, array, array, 2);
#else
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, array + 1, array, 2);
#endif
    shmem_finalize();
    return 0;
}
