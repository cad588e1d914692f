// nodes: 3
#include <shmem.h>
#include <stdio.h>
/* a flag of each rank, polled by index */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&flag[1], 1, 0);
    } else if (me == 0) {
        int done[3] = {1, 0, 0}, left = 2;
        while (left > 0)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    done[i] = 1;
                    left--;
                }
    }
    if (me == 2) shmem_long_p(&flag[2], 1, 0);
    shmem_finalize();
    return 0;
}
