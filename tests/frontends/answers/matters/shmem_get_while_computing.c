// nodes: 2
// PE 1 gets a value that PE 0 is computing.
#include <shmem.h>
#include <stdio.h>

static int result;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    int seen = 0;
    if (me == 0)
        result = 42;
#ifdef REPAIRED
    shmem_barrier_all();
#endif
    if (me == 1) {
        seen = shmem_int_g(&result, 0);
        printf("%d\n", seen);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
