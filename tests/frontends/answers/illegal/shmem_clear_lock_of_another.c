// nodes: 2
// PE 1 gives back a lock that it does not hold.
#include <shmem.h>
#include <stdio.h>

static long lock;
static int x;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0) {
        shmem_set_lock(&lock);
        x = 1;
        shmem_clear_lock(&lock);
    } else if (me == 1) {
#ifdef REPAIRED
        shmem_set_lock(&lock);
#endif
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
