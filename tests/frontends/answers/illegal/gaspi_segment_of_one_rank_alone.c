// nodes: 2
// Rank 0 writes into a segment that it has alone.
#include <GASPI.h>

int main(void)
{
    gaspi_rank_t me;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
#ifdef REPAIRED
    gaspi_segment_create(1, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
#else
    if (me == 0)
        gaspi_segment_alloc(1, 64, GASPI_MEM_INITIALIZED);
#endif
    if (me == 0) {
        gaspi_write(0, 0, 1, 1, 4, 4, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
