// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
long a[4]; long ctr;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    int i = shmem_long_atomic_fetch_inc(&ctr, 0) & 3;
    *(int *)&a[i] = 5;
    assert(a[0] + a[1] + a[2] + a[3] == 5);
    shmem_finalize();
    return 0;
}
