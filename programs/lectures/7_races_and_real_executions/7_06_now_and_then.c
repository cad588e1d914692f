// expect: not robust
// nodes: 2
// races: 1 pair
// One of two ways has no fence. Which way a run goes is not up to the network.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long data[2];
static int flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        long source[2] = {7, 8};
        shmem_long_put(data, source, 2, 1);
        if (rand() % 2 == 1)
            shmem_fence();
        shmem_int_p(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld %ld\n", data[0], data[1]);
    }
    shmem_finalize();
    return 0;
}
