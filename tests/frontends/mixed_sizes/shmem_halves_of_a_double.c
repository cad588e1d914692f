// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
double d;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    double v = 1.0;
    int *h = (int *)&v;
    if (me == 0) shmem_put32((int *)&d, h, 1, 1);
    else if (me == 1) shmem_put32((int *)&d + 1, h + 1, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(d == 1.0);
    shmem_finalize();
    return 0;
}
