// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the flag is put again, for good measure */
static long ready, data;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&data, 6, 0);
        shmem_fence();
        shmem_long_p(&ready, 1, 0);
        shmem_long_p(&ready, 1, 0);
    } else if (me == 0) {
        shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data);
    }
    shmem_finalize();
    return 0;
}
