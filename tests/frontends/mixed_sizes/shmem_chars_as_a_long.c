// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
char x[8];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    char v[5] = {1, 2, 3, 4, 5};
    if (me == 0) shmem_char_put(x, v, 5, 1);
    shmem_barrier_all();
    if (me == 1) assert(*(long *)x == 0x0504030201L);
    shmem_finalize();
    return 0;
}
