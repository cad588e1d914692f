// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* reads what comes with the flag that it has not seen */
static long a, b, with_b;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&with_b, 3, 0);
        shmem_long_p(&b, 1, 0);
        shmem_long_p(&a, 1, 0);
    } else if (me == 0) {
        while (!shmem_long_test(&a, SHMEM_CMP_EQ, 1) && !shmem_long_test(&b, SHMEM_CMP_EQ, 1));
        shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
        printf("%ld\n", with_b);
    }
    shmem_finalize();
    return 0;
}
