// nodes: 2
// wrong
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long x;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) shmem_long_atomic_add(&x, 1, 1);
    else if (me == 1) *(int *)&x = 4;
    shmem_barrier_all();
    if (me == 1) printf("%ld", x);
    shmem_finalize();
    return 0;
}
