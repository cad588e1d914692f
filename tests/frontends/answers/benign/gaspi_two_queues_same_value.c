// nodes: 2
#include <GASPI.h>
#include <stdio.h>
/* the same cell is written by two queues, with one value */
int main(void) {
    gaspi_rank_t me;
    gaspi_pointer_t memory;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &memory);
    int *cells = memory;
    if (me == 1) {
        cells[4] = 7;
        gaspi_write(0, 16, 0, 0, 0, 4, 1, GASPI_BLOCK);
        gaspi_write(0, 16, 0, 0, 0, 4, 0, GASPI_BLOCK);
        gaspi_notify(0, 0, 0, 1, 0, GASPI_BLOCK);
        gaspi_notify(0, 0, 1, 1, 1, GASPI_BLOCK);
    } else {
        gaspi_notification_id_t id;
        gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK);
        gaspi_notify_waitsome(0, 1, 1, &id, GASPI_BLOCK);
        printf("%d\n", cells[0]);
    }
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
