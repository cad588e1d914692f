// nodes: 3
// All PEs tell all others the size, which is the same.
#include <shmem.h>
#include <stdio.h>

static int size;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    for (int pe = 0; pe < npes; pe++)
        shmem_int_p(&size, 16, pe);
    shmem_barrier_all();
    printf("%d\n", size);
    shmem_finalize();
    return 0;
}
