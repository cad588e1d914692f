// nodes: 2
// Memory of malloc is not symmetric.
#include <shmem.h>
#include <stdio.h>

#include <stdlib.h>
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
#ifdef REPAIRED
    int *here = shmem_calloc(1, sizeof(int));
#else
    int *here = calloc(1, sizeof(int));
#endif
    if (me == 0)
        shmem_int_p(here, 3, 1);
    shmem_barrier_all();
    printf("%d\n", *here);
    shmem_finalize();
    return 0;
}
