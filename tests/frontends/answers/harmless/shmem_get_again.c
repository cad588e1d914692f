// nodes: 2
// PE 1 gets a value that may be old into a buffer, and gets it again behind the barrier before it looks.
#include <shmem.h>
#include <stdio.h>

static int x, copy;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 0)
        x = 5;
    if (me == 1)
        shmem_int_get(&copy, &x, 1, 0);
    shmem_barrier_all();
    if (me == 1) {
        shmem_int_get(&copy, &x, 1, 0);
        printf("%d\n", copy);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
