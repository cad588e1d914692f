// nodes: 2
// PE 1 waits for a flag that nobody sets.
#include <shmem.h>
#include <stdio.h>

static int flag, data;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0) {
        shmem_int_p(&data, 5, 1);
        shmem_quiet();
#ifdef REPAIRED
        shmem_int_p(&flag, 1, 1);
#endif
    } else if (me == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", data);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
