// expect: robust
// nodes: 2
// races: none
// After a quiet the put has arrived, and the get finds it.
#include <shmem.h>
#include <stdio.h>

static int x;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&x, 1, 1);
        shmem_quiet();
        printf("%d\n", shmem_int_g(&x, 1));
    }
    shmem_finalize();
    return 0;
}
