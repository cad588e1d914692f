// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
int x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    short v = 8;
    if (me == 0) shmem_short_put((short *)&x, &v, 1, 1);
    else ((char *)&x)[2] = 4;
    shmem_barrier_all();
    if (me == 1) assert(x == (4 << 16 | 8));
    shmem_finalize();
    return 0;
}
