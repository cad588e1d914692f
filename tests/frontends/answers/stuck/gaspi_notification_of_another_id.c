// nodes: 2
// Rank 1 waits for notification 1, and rank 0 sends number 2.
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
    if (me == 0) {
        cells[0] = 5;
#ifdef REPAIRED
        gaspi_write_notify(0, 0, 1, 0, 4, 4, 1, 1, 0, GASPI_BLOCK);
#else
        gaspi_write_notify(0, 0, 1, 0, 4, 4, 2, 1, 0, GASPI_BLOCK);
#endif
        gaspi_wait(0, GASPI_BLOCK);
    } else if (me == 1) {
        gaspi_notify_waitsome(0, 1, 1, &id, GASPI_BLOCK);
        gaspi_notify_reset(0, id, &value);
        printf("%d\n", cells[1]);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
