// nodes: 2
// wrong
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
double d;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int h[2] = {1, 2};
    if (me == 0) shmem_put32((int *)&d, h, 1, 1);
    else if (me == 1) shmem_put32((int *)((char *)&d + 2), h + 1, 1, 1);
    shmem_barrier_all();
    if (me == 1) printf("%g", d);
    shmem_finalize();
    return 0;
}
