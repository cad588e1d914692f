// nodes: 2
#include <shmem.h>
/* the flag is up for a while only, and the other one may be seen first */
static long a, b;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
        shmem_long_p(&a, 0, 0);
    } else if (shmem_my_pe() == 0) {
        int have_a = 0, have_b = 0;
        while (!have_a || !have_b) {
            if (!have_a) have_a = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
            if (!have_b) have_b = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
        }
    }
    shmem_finalize();
    return 0;
}
