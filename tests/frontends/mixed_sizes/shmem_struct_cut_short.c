// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct T { int a; char c[4]; }; struct T g = {9, "abc"}, h; int flag;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) shmem_putmem(&h, &g, 6, 1);
    shmem_barrier_all();
    if (me == 1) assert(h.a == 9 && h.c[1] == 98 && h.c[2] == 0);
    shmem_finalize();
    return 0;
}
