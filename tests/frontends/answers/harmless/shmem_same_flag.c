// nodes: 3
// Two PEs raise one flag; whoever comes first, it is 1.
#include <shmem.h>
#include <stdio.h>

static int done;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me > 0)
        shmem_int_p(&done, 1, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d\n", done);
    shmem_finalize();
    return 0;
}
