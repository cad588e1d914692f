// nodes: 2
// right
#include <shmem.h>
#include <string.h>
#include <stdint.h>
#include <assert.h>
#include <stdlib.h>
static char a[8];
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    char x = 5;
    if (me == 0) shmem_putmem(a + 2, &x, 1, 1);
    if (me == 1) memset(a + 3, 2, 1);
    shmem_barrier_all();
    if (me == 1) { short h; memcpy(&h, a + 2, 2); assert(h == 0x0205); }
    shmem_finalize();
    return 0;
}
