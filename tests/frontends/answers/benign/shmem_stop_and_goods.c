// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* works until told to stop and until the goods are there, in either order */
static long stop, goods;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&goods, 4, 0);
        shmem_long_p(&stop, 1, 0);
    } else if (shmem_my_pe() == 0) {
        long g = 0;
        int stopped = 0;
        while (!stopped || g == 0) {
            stopped = shmem_long_test(&stop, SHMEM_CMP_EQ, 1);
            g = shmem_long_g(&goods, 0);
        }
        printf("%ld\n", g);
    }
    shmem_finalize();
    return 0;
}
