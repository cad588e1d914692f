// nodes: 3
#include <shmem.h>
#include <stdio.h>
/* adds up parts in the order in which they come, each fenced from its flag */
static long part[2], flag[2], sum;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me > 0) {
        shmem_long_p(&part[me - 1], 10 * me, 0);
        shmem_fence();
        shmem_long_p(&flag[me - 1], 1, 0);
    } else {
        int left = 2, done[2] = {0, 0};
        while (left > 0)
            for (int i = 0; i < 2; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    sum += part[i];
                    done[i] = 1;
                    left--;
                }
    }
    shmem_finalize();
    return 0;
}
