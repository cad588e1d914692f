// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* puts 0 where 0 is, and never waits for it */
static long x, done;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&x, 0, 0);
        shmem_long_p(&done, 1, 0);
    } else if (me == 0) {
        shmem_long_wait_until(&done, SHMEM_CMP_EQ, 1);
        printf("%ld\n", x);
    }
    shmem_finalize();
    return 0;
}
