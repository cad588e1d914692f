// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* takes whichever message is there; the sum is the same */
static long flag[3], data[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) {
            shmem_long_p(&data[i], 10 + i, 0);
            shmem_fence();
            shmem_long_p(&flag[i], 1, 0);
        }
    } else if (shmem_my_pe() == 0) {
        int done[3] = {0, 0, 0};
        long sum = 0;
        int got = 0;
        while (got < 3)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    sum += data[i];
                    done[i] = 1;
                    got++;
                }
        printf("%ld\n", sum);
    }
    shmem_finalize();
    return 0;
}
