// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* takes those that are there until all have been */
static long flag[2];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&flag[0], 1, 0);
        shmem_long_p(&flag[1], 1, 0);
    } else if (me == 0) {
        int status[2] = {0, 0};
        size_t which[2];
        for (int left = 2; left > 0;) {
            size_t n = shmem_long_test_some(flag, 2, which, status, SHMEM_CMP_EQ, 1);
            for (size_t i = 0; i < n; i++) status[which[i]] = 1;
            left -= n;
        }
    }
    shmem_finalize();
    return 0;
}
