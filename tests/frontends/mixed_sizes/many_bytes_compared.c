// nodes: 2
// right
#include <shmem.h>
#include <string.h>
#include <stdint.h>
#include <assert.h>
#include <stdlib.h>
static char v[400], w[400];
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    memset(v, 1, 400);
    shmem_barrier_all();
    if (me == 0) { shmem_putmem(w, v, 400, 1); }
    shmem_barrier_all();
    if (me == 1) { assert(memcmp(w, v, 400) == 0); }
    shmem_finalize();
    return 0;
}
