// nodes: 2
// wrong
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
    else if (me == 1) ((char *)&x)[1] = 4;
    shmem_barrier_all();
    if (me == 1) printf("%d", x);
    shmem_finalize();
    return 0;
}
