// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
char dst[16];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    char name[16];
    strcpy(name, "abc");
    shmem_putmem(dst, name, strlen(name) + 1, 1 - me);
    shmem_barrier_all();
    assert(strcmp(dst, "abc") == 0);
    assert(*(int *)dst == 0x636261);
    shmem_finalize();
    return 0;
}
