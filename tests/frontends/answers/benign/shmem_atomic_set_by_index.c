// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* flags are set and looked at by atomics */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_atomic_set(&flag[i], 1, 0);
    } else if (me == 0) {
        int done[3] = {0, 0, 0};
        for (int left = 3; left > 0;)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_atomic_fetch(&flag[i], 0) == 1) {
                    done[i] = 1;
                    left--;
                }
    }
    shmem_finalize();
    return 0;
}
