// nodes: 2
// The library is used before it has been initialised.
#include <shmem.h>

static int x;

int main(void)
{
#ifdef REPAIRED
    shmem_init();
#endif
    if (shmem_my_pe() == 0)
        shmem_int_p(&x, 1, 1);
#ifndef REPAIRED
    shmem_init();
#endif
    shmem_finalize();
    return 0;
}
