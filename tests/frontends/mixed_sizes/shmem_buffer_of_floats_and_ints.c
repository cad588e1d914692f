// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
char a[16], b[16];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    *(float *)a = 0.5f;
    *(int *)(a + 4) = 3;
    if (me == 0) shmem_putmem(b, a, 8, 1);
    shmem_barrier_all();
    if (me == 1) assert(*(float *)b == 0.5f && *(int *)(b + 4) == 3);
    shmem_finalize();
    return 0;
}
