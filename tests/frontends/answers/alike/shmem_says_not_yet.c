// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* says for which it has to wait: "a" alone, which has been put first, no SC run prints */
static long a, b;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else if (me == 0) {
        if (!shmem_long_test(&b, SHMEM_CMP_EQ, 1)) printf("b is not there yet\n");
        if (!shmem_long_test(&a, SHMEM_CMP_EQ, 1)) printf("a is not there yet\n");
        shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
        shmem_long_wait_until(&b, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
    return 0;
}
