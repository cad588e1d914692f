// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long x[2], y[2];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    memset((char *)x + 3, 0xff, 10);
    if (me == 0) shmem_long_put(y, x, 2, 1);
    shmem_barrier_all();
    if (me == 1) assert(y[0] == (long)0xffffffffff000000UL && y[1] == 0xffffffffffL);
    shmem_finalize();
    return 0;
}
