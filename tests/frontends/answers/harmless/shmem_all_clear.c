// nodes: 4
// All PEs clear the buffer of PE 0, so that it is sure to be clear.
#include <shmem.h>
#include <stdio.h>

static long buffer[2] = {3, 4};
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    long zeros[2] = {0, 0};
    shmem_long_put(buffer, zeros, 2, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%ld %ld\n", buffer[0], buffer[1]);
    shmem_finalize();
    return 0;
}
