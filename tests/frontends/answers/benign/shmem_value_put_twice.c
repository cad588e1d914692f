// nodes: 2
#include <shmem.h>
/* both puts bring 1: it does not matter which comes last */
static long x, y;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&x, 1, 0);
        shmem_long_p(&y, 1, 0);
        shmem_long_p(&x, 1, 0);
    } else if (shmem_my_pe() == 0) {
        shmem_long_wait_until(&x, SHMEM_CMP_EQ, 1);
        shmem_long_wait_until(&y, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
    return 0;
}
