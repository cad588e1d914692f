// nodes: 2
// wrong
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
int flag; long data;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) { shmem_long_p(&data, 7, 1);  shmem_int_p(&flag, 1, 1); } else if (me == 1) { while (*(volatile char *)&flag != 1); printf("%ld", data); }
    shmem_finalize();
    return 0;
}
