// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
char x[16]; 
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int *p = (int *)x;
    for (int i = 0; i < 4; i++) p[i] = i + 1; shmem_barrier_all(); char y[13]; shmem_getmem(y, x, 13, 1 - me); assert(y[0] == 1 && y[4] == 2 && y[12] == 4 && y[5] == 0);
    shmem_finalize();
    return 0;
}
