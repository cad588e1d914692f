// nodes: 2
// wrong
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
struct T { int a; char c[4]; }; struct T g = {9, "abc"}, h; int flag;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) { shmem_putmem_nbi(&h, &g, 6, 1); shmem_int_p(&flag, 1, 1); } else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); printf("%d", h.c[1]); }
    shmem_finalize();
    return 0;
}
