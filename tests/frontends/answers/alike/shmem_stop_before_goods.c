// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* told to stop, it takes what is there */
static long stop, goods;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&goods, 4, 0);
        shmem_long_p(&stop, 1, 0);
    } else if (shmem_my_pe() == 0) {
        while (!shmem_long_test(&stop, SHMEM_CMP_EQ, 1));
        printf("%ld\n", shmem_long_g(&goods, 0));
    }
    shmem_finalize();
    return 0;
}
