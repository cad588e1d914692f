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
    int v = 7;
    if (me == 0) shmem_int_put((int *)&x + 1, &v, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(x == 7L << 32);
    shmem_finalize();
    return 0;
}
