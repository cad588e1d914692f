// nodes: 3
// Two PEs put their numbers into one variable, and what is printed is that of the last.
#include <shmem.h>
#include <stdio.h>

static int winner, votes[3];
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
#ifdef REPAIRED
    if (me > 0)
        shmem_int_p(&votes[me], me, 0);
    shmem_barrier_all();
    if (me == 0)
        winner = votes[2] ? votes[2] : votes[1];
#else
    if (me > 0)
        shmem_int_p(&winner, me, 0);
    shmem_barrier_all();
#endif
    if (me == 0)
        printf("winner %d\n", winner);
    shmem_finalize();
    return 0;
}
