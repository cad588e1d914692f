// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the flags may overtake the data */
static long flag[3], data[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) {
            shmem_long_p(&data[i], 10 + i, 0);
            shmem_long_p(&flag[i], 1, 0);
        }
    } else if (shmem_my_pe() == 0) {
        int done[3] = {0, 0, 0}, left = 3;
        while (left > 0)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) {
                    done[i] = 1;
                    left--;
                }
        printf("%ld\n", data[0] + data[1] + data[2]);
    }
    shmem_finalize();
    return 0;
}
