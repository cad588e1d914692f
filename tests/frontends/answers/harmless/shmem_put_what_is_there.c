// nodes: 2
// PE 1 puts the value that PE 0 has there already, while PE 0 reads it.
#include <shmem.h>
#include <stdio.h>

static int x = 7;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    if (me == 1)
        shmem_int_p(&x, 7, 0);
    if (me == 0)
        printf("%d\n", x);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
