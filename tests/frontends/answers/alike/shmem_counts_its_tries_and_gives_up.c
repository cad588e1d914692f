// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* gives up after two tries, and says what is missing */
static long a, b;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else if (me == 0) {
        int x = 0, y = 0;
        for (int tries = 0; tries < 2 && !(x && y); tries++) {
            if (!y) y = shmem_long_test(&b, SHMEM_CMP_EQ, 1);
            if (!x) x = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
        }
        if (y && !x) printf("a has been lost\n");
    }
    shmem_finalize();
    return 0;
}
