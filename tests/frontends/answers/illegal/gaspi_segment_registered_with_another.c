// nodes: 2
// Rank 1 registers its segment with itself, and rank 0 writes into it.
#include <GASPI.h>

int main(void)
{
    gaspi_rank_t me;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_segment_alloc(0, 64, GASPI_MEM_INITIALIZED);
#ifdef REPAIRED
    gaspi_segment_register(0, 1 - me, GASPI_BLOCK);
#else
    gaspi_segment_register(0, me, GASPI_BLOCK);
#endif
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    if (me == 0) {
        gaspi_write(0, 0, 1, 0, 4, 4, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
