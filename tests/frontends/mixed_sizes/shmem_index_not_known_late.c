// nodes: 2
// wrong
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
    shmem_sync_all();
    if (me == 0) { shmem_putmem((char *)&a[i] + 4, &a[i], 4, 1); } shmem_sync_all();
    if (me == 1) printf("%ld", a[0]);
    shmem_finalize();
    return 0;
}
