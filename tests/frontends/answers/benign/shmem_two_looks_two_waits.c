// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* looks at three flags, then waits for those that were not there */
static long a, b, c;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
        shmem_long_p(&c, 1, 0);
    } else if (me == 0) {
        int third = shmem_long_test(&c, SHMEM_CMP_EQ, 1);
        int second = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
        int first = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
        if (!first) shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
        if (!second) shmem_long_wait_until(&b, SHMEM_CMP_EQ, 1);
        if (!third) shmem_long_wait_until(&c, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
    return 0;
}
