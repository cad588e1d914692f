// nodes: 2
// wrong
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long x; long f;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int v = 7;
    if (me == 0) { shmem_int_put((int *)&x + 1, &v, 1, 1); shmem_long_atomic_set(&f, 1, 1); } else { shmem_long_wait_until(&f, SHMEM_CMP_EQ, 1); printf("%ld", x); }
    shmem_finalize();
    return 0;
}
