// expect: not robust
// nodes: 3
// races: 1 pair
// A broadcast promises a PE its own destination and nothing of the others': the root may be through before it arrives.
#include <shmem.h>
#include <stdio.h>

static long source, dest, told;
static long psync[SHMEM_BCAST_SYNC_SIZE] = {SHMEM_SYNC_VALUE, SHMEM_SYNC_VALUE};

int main(void)
{
    int me;

    shmem_init();
    me = shmem_my_pe();
    source = 7;
    if (me < 2)
        shmem_broadcast64(&dest, &source, 1, 0, 0, 0, 2, psync);
    if (me == 0)
        shmem_long_p(&told, 1, 2);
    if (me == 2) {
        shmem_long_wait_until(&told, SHMEM_CMP_EQ, 1);
        printf("%ld\n", shmem_long_g(&dest, 1));
    }
    shmem_finalize();
    return 0;
}
