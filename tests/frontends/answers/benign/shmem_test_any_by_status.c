// nodes: 2
#include <shmem.h>
#include <stdio.h>
static long flag[3], data[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) {
            shmem_long_p(&data[i], i + 3, 0);
            shmem_fence();
            shmem_long_p(&flag[i], 1, 0);
        }
    } else if (shmem_my_pe() == 0) {
        int status[3] = {0, 0, 0};
        long sum = 0;
        for (int left = 3; left > 0;) {
            size_t k = shmem_long_test_any(flag, 3, status, SHMEM_CMP_EQ, 1);
            if (k == SIZE_MAX) continue;
            status[k] = 1;
            sum += data[k];
            left--;
        }
        printf("%ld\n", sum);
    }
    shmem_finalize();
    return 0;
}
