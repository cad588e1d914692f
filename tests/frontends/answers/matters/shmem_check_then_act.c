// nodes: 2
// Both look whether the slot is free and take it: one may overwrite the other.
#include <shmem.h>
#include <stdio.h>

static int slot;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
#ifdef REPAIRED
    int mine = shmem_int_atomic_compare_swap(&slot, 0, me + 1, 0) == 0;
    (void)mine;
#else
    if (shmem_int_g(&slot, 0) == 0)
        shmem_int_p(&slot, me + 1, 0);
#endif
    shmem_barrier_all();
#ifdef REPAIRED
    if (me == 0)
        printf("taken: %d\n", shmem_int_atomic_fetch(&slot, 0) != 0);
#else
    if (me == 0)
        printf("%d\n", slot);
#endif
    shmem_finalize();
    return 0;
}
