// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct __attribute__((packed)) T { char c; int i; short s; }; struct T g, h;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int v = 8;
    if (me == 0) shmem_int_put(&h.i, &v, 1, 1);
    else h.c = 4;
    shmem_barrier_all();
    if (me == 1) { char z[7]; memcpy(z, &h, 7); assert(z[0] == 4 && z[1] == 8 && z[2] == 0); }
    shmem_finalize();
    return 0;
}
