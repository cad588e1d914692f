// nodes: 2
// Notifications belong to segments, and there is no segment 1.
#include <GASPI.h>

int main(void)
{
    gaspi_rank_t me;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
#ifdef REPAIRED
    gaspi_segment_id_t segment = 0;
#else
    gaspi_segment_id_t segment = 1;
#endif
    if (me == 0) {
        gaspi_notify(segment, 1, 0, 1, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    }
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
