// nodes: 2
// The owner of the flag raises it itself while the other PE does.
#include <shmem.h>
#include <stdio.h>

static int ready;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0)
        ready = 1;
    else
        shmem_int_p(&ready, 1, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d\n", ready);
    shmem_finalize();
    return 0;
}
