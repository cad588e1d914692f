// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct { char c[3]; } a[4], b[4];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 4; i++) a[i].c[1] = i + me; if (me == 0) { shmem_putmem_nbi(&b[1], &a[1], 6, 1); a[3].c[1] = 9; shmem_quiet(); } shmem_barrier_all(); if (me == 1) assert(b[2].c[1] == 2 && b[3].c[1] == 0);
    shmem_finalize();
    return 0;
}
