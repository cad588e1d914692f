// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int v = 6;
    if (me == 0) shmem_int_put((int *)&x, &v, 1, 1);
    else if (me == 1) memset((char *)&x + 4, 1, 4);
    shmem_barrier_all();
    if (me == 1) assert(x == 0x0101010100000006L);
    shmem_finalize();
    return 0;
}
