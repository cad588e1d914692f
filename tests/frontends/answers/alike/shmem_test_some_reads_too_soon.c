// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* reads all data when some flags are there */
static long flag[2], data[2];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 2; i++) {
            shmem_long_p(&data[i], i + 1, 0);
            shmem_fence();
            shmem_long_p(&flag[i], 1, 0);
        }
    } else if (me == 0) {
        size_t which[2];
        while (!shmem_long_test_some(flag, 2, which, NULL, SHMEM_CMP_EQ, 1));
        printf("%ld %ld\n", data[0], data[1]);
    }
    shmem_finalize();
    return 0;
}
