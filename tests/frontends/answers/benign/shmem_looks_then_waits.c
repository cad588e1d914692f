// nodes: 2
#include <shmem.h>
/* two flags are looked at, and the one that was not there is waited for */
static long a, b;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else if (shmem_my_pe() == 0) {
        int second = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
        int first = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
        if (!second) shmem_long_wait_until(&b, SHMEM_CMP_EQ, 1);
        if (!first) shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
    return 0;
}
