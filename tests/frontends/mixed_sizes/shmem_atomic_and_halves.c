// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) shmem_long_atomic_add(&x, (1L << 32) | 5, 1);
    shmem_barrier_all();
    if (me == 1) { int *h = (int *)&x; assert(h[0] == 5 && h[1] == 1); }
    shmem_finalize();
    return 0;
}
