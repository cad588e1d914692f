// nodes: 2
// The memory is given back before it is read.
#include <shmem.h>

static int result;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int *block = shmem_malloc(sizeof(int));
    shmem_int_p(block, me, 1 - me);
    shmem_barrier_all();
#ifdef REPAIRED
    result = *block;
#endif
    shmem_free(block);
#ifndef REPAIRED
    result = *block;
#endif
    shmem_finalize();
    return 0;
}
