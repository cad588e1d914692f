// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
union U { double d; long l; int h[2]; }; union U x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    double v = 1.0;
    if (me == 0) shmem_double_put(&x.d, &v, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(x.l == 0x3ff0000000000000L && x.h[1] == 0x3ff00000);
    shmem_finalize();
    return 0;
}
