// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* two flags of two puts that may overtake each other */
static long flag[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&flag[0], 1, 0);
        shmem_long_p(&flag[1], 1, 0);
        shmem_long_p(&flag[2], 1, 0);
    } else if (shmem_my_pe() == 0) {
        int done[3] = {0, 0, 0}, left = 3;
        while (left > 0) {
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    done[i] = 1;
                    left--;
                }
        }
        printf("all there\n");
    }
    shmem_finalize();
    return 0;
}
