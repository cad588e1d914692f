// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct T { int a; short b; short c; }; struct T g, h;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    struct T t = {1, 2, 3};
    memcpy(&g, &t, 6);
    if (me == 0) shmem_putmem(&h, &g, sizeof g, 1);
    shmem_barrier_all();
    if (me == 1) assert(h.a == 1 && h.b == 2 && h.c == 0);
    shmem_finalize();
    return 0;
}
