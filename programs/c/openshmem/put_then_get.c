// expect: not robust
// nodes: 2
// races: 1 pair
// A blocking get waits for itself alone and may miss the put before it.
#include <shmem.h>
#include <stdio.h>

static int x;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&x, 1, 1);
        printf("%d\n", shmem_int_g(&x, 1));
    }
    shmem_finalize();
    return 0;
}
