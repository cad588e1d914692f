// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* polls by test_all */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else if (me == 0) {
        while (!shmem_long_test_all(flag, 3, NULL, SHMEM_CMP_EQ, 1));
    }
    shmem_finalize();
    return 0;
}
