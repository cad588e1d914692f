// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the flag of the data is not among those that are tested */
static long flag[3], data;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&data, 2, 0);
        shmem_long_p(&flag[0], 1, 0);
        shmem_long_p(&flag[1], 1, 0);
        shmem_fence();
        shmem_long_p(&flag[2], 1, 0);
    } else if (me == 0) {
        while (!shmem_long_test_all(flag, 2, NULL, SHMEM_CMP_EQ, 1));
        printf("%ld\n", data);
    }
    shmem_finalize();
    return 0;
}
