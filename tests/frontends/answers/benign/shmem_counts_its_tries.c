// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* how often it has looked is printed */
static long a, b, c;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
        shmem_long_p(&c, 1, 0);
    } else if (me == 0) {
        int x = 0, y = 0, z = 0, tries = 0;
        do {
            tries++;
            if (!y) y = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
            if (!x) x = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
            if (!z) z = shmem_long_test(&c, SHMEM_CMP_EQ, 1);
        } while (!x || !y || !z);
        printf("%d tries\n", tries);
    }
    shmem_finalize();
    return 0;
}
