// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* puts 0 where its owner has put 1 */
static long x, done;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    x = 1;
    shmem_barrier_all();
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
