// nodes: 2
// The segment has been deleted.
#include <GASPI.h>
#include <stdio.h>

int main(void)
{
    gaspi_rank_t me, ranks;
    gaspi_pointer_t base;
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    (void)id, (void)value;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_proc_num(&ranks);
    gaspi_segment_create(0, 8 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &base);
    int *cells = base;
#ifndef REPAIRED
    if (me == 0)
        gaspi_segment_delete(0);
#endif
    if (me == 0) {
        gaspi_write(0, 0, 1, 0, 4, 4, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
