// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* takes what is not there for an error */
static long a, b, errors;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else if (me == 0) {
        shmem_long_wait_until(&b, SHMEM_CMP_EQ, 1);
        if (!shmem_long_test(&a, SHMEM_CMP_EQ, 1)) errors++;
        shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
        printf("%ld\n", errors);
    }
    shmem_finalize();
    return 0;
}
