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
    float f = 0.25f;
    int i = 4;
    if (me == 0) shmem_float_put((float *)&x, &f, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(*(float *)&x == 0.25f);
    shmem_barrier_all();
    if (me == 0) shmem_int_put(&x, &i, 1, 1);
    shmem_barrier_all();
    if (me == 1) assert(x == 4);
    shmem_finalize();
    return 0;
}
