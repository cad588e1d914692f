// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct __attribute__((packed)) T { char c; int i; short s; }; struct T g, h;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    g.c = 1;
    g.i = 2;
    g.s = 3;
    if (me == 0) shmem_putmem(&h, &g, sizeof g, 1);
    shmem_barrier_all();
    if (me == 1) assert(h.c == 1 && h.i == 2 && h.s == 3);
    shmem_finalize();
    return 0;
}
