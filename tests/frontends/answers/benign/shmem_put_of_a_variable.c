// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the flags are put from a variable */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        long one = 1;
        for (int i = 0; i < 3; i++) shmem_long_put(&flag[i], &one, 1, 0);
    } else if (me == 0) {
        int done[3] = {0, 0, 0}, left = 3;
        while (left > 0)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    done[i] = 1;
                    left--;
                }
    }
    shmem_finalize();
    return 0;
}
