// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
int x = 0x04030201;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int y = 0;
    if (me == 0) { shmem_getmem(&y, &x, 3, 1); assert(y == 0x030201); }
    shmem_finalize();
    return 0;
}
