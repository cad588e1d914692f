// nodes: 2
#include <shmem.h>
/* what has come first is told to rank 1, which has put flag[0] first */
static long flag[3], first;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else if (shmem_my_pe() == 0) {
        int done[3] = {0, 0, 0}, left = 3, which = -1;
        while (left > 0)
            for (int i = 2; i >= 0; i--)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    if (which < 0) which = i;
                    done[i] = 1;
                    left--;
                    if (!done[0]) shmem_long_p(&first, which, 1);
                }
    }
    shmem_finalize();
    return 0;
}
