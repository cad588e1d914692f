// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
int x = 0x0201;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    union { int i; unsigned char c[4]; } u;
    u.i = shmem_int_g(&x, 1 - me);
    assert(u.c[0] == 1 && u.c[1] == 2 && u.c[3] == 0);
    shmem_finalize();
    return 0;
}
