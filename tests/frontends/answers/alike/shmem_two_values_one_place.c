// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* looks like a value that is put twice, but the second one is another */
static long x;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&x, 1, 0);
        shmem_long_p(&x, 2, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) printf("%ld\n", x);
    shmem_finalize();
    return 0;
}
