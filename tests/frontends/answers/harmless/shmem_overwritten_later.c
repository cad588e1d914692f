// nodes: 3
// Who wins the race for the scratch cell does not matter: it is set again before anybody looks.
#include <shmem.h>
#include <stdio.h>

static int scratch;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me > 0)
        shmem_int_p(&scratch, me, 0);
    shmem_barrier_all();
    if (me == 0) {
        scratch = 0;
        printf("%d\n", scratch);
    }
    shmem_finalize();
    return 0;
}
