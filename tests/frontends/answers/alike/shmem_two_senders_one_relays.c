// nodes: 3
#include <shmem.h>
#include <stdio.h>
/* what rank 2 passes on may come before what rank 1 has sent */
static long flag[3], go;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&flag[1], 1, 0);
        shmem_long_p(&go, 1, 2);
    } else if (me == 0) {
        shmem_long_wait_until(&flag[2], SHMEM_CMP_EQ, 1);
        printf("%ld\n", flag[1]);
    }
    if (me == 2) {
        shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
        shmem_long_p(&flag[2], 1, 0);
    }
    shmem_finalize();
    return 0;
}
