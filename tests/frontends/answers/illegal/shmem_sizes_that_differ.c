// nodes: 2
// PE 1 asks for more memory than PE 0.
#include <shmem.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
#ifdef REPAIRED
    int *block = shmem_malloc(8);
#else
    int *block = shmem_malloc(me ? 8 : 4);
#endif
    block[0] = me;
    shmem_free(block);
    shmem_finalize();
    return 0;
}
