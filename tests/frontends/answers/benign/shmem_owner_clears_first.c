// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the flags are cleared by their owner before the barrier */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 3; i++) flag[i] = 0;
    shmem_barrier_all();
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else if (me == 0) {
        int left = 3, done[3] = {0, 0, 0};
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
