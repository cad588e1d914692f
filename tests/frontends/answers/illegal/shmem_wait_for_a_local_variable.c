// nodes: 2
// Nobody else can set a variable on the stack, and PE 1 waits for one.
#include <shmem.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
#ifdef REPAIRED
    static int flag = 0;
#else
    int flag = 1;
#endif
    if (me == 1)
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
#ifdef REPAIRED
    else
        shmem_int_p(&flag, 1, 1);
#endif
    shmem_finalize();
    return 0;
}
