// nodes: 2
// PE 1 polls a flag of its own by atomic fetches, and PE 0 sets its own one.
#include <shmem.h>
#include <stdio.h>

static int flag;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0)
#ifdef REPAIRED
        shmem_int_atomic_set(&flag, 1, 1);
#else
        shmem_int_atomic_set(&flag, 1, 0);
#endif
    else if (me == 1)
        while (!shmem_int_atomic_fetch(&flag, 1))
            ;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
