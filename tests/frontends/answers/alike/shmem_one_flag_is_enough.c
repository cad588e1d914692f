// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* leaves as soon as one flag is there, and reads what belongs to the other one */
static long a, b, left, right;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&left, 3, 0);
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&right, 4, 0);
        shmem_fence();
        shmem_long_p(&b, 1, 0);
    } else if (shmem_my_pe() == 0) {
        int have_a = 0, have_b = 0;
        do {
            if (!have_a) have_a = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
            if (!have_b) have_b = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
        } while (!have_a && !have_b);
        printf("%ld\n", left);
    }
    shmem_finalize();
    return 0;
}
