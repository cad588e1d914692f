// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
float f[2]; double d;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    f[0] = 1.5f;
    f[1] = me;
    if (me == 0) shmem_putmem(&d, f, 8, 1);
    shmem_barrier_all();
    if (me == 1) { float g[2]; memcpy(g, &d, 8); assert(g[0] == 1.5f && g[1] == 0.0f); }
    shmem_finalize();
    return 0;
}
