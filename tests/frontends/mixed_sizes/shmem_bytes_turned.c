// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
int x = 0x01020304, y;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    union { int i; unsigned char c[4]; } u, v;
    u.i = shmem_int_g(&x, 1 - me);
    for (int i = 0; i < 4; i++) v.c[i] = u.c[3 - i]; shmem_int_p(&y, v.i, 1 - me); shmem_barrier_all(); assert(y == 0x04030201);
    shmem_finalize();
    return 0;
}
