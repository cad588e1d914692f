// nodes: 2
// A local variable has no copy on other PEs that a put could name.
#include <shmem.h>
#include <stdio.h>

#ifdef REPAIRED
static int here;
#endif
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
#ifndef REPAIRED
    int here = 0;
#endif
    if (me == 0)
        shmem_int_p(&here, 3, 1);
    shmem_barrier_all();
    printf("%d\n", here);
    shmem_finalize();
    return 0;
}
