// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* both ranks put the same value */
static long x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&x, 5, 1);
        shmem_long_p(&x, 5, 1);
    } else if (me == 0) {
        shmem_long_p(&x, 5, 1);
    }
    shmem_barrier_all();
    if (me == 1) printf("%ld\n", x);
    shmem_finalize();
    return 0;
}
