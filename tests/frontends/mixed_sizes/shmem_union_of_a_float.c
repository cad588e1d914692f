// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
union U { float f; int i; }; union U x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    float v = 1.0f;
    if (me == 0) shmem_float_put(&x.f, &v, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(x.i == 0x3f800000);
    shmem_finalize();
    return 0;
}
