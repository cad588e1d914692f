// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* two of three flags are enough for it */
static long flag[3], data;
static int ready(long *f) {
    return shmem_long_test(f, SHMEM_CMP_NE, 0);
}
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 2; i++) shmem_long_p(&flag[i], 1, 0);
        shmem_long_p(&data, 3, 0);
        shmem_fence();
        shmem_long_p(&flag[2], 1, 0);
    } else if (me == 0) {
        int have[3] = {0, 0, 0};
        while (have[0] + have[1] + have[2] < 2)
            for (int i = 0; i < 3; i++)
                if (!have[i]) have[i] = ready(&flag[i]);
        if (have[2] && !have[0]) shmem_long_p(&data, 9, 1);
    }
    shmem_finalize();
    return 0;
}
