// nodes: 2
#include <shmem.h>
static long a, b, c;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
        shmem_long_p(&c, 1, 0);
    } else if (shmem_my_pe() == 0) {
        int x = 0, y = 0, z = 0;
        while (!x || !y || !z) {
            if (!x) x = shmem_long_g(&a, 0) == 1;
            if (!y) y = shmem_long_g(&b, 0) == 1;
            if (!z) z = shmem_long_g(&c, 0) == 1;
        }
    }
    shmem_finalize();
    return 0;
}
