// nodes: 2
#include <GASPI.h>
#include <stdio.h>
/* the notifications say nothing of writes in another queue */
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
        gaspi_notify(0, 0, 0, 1, 0, GASPI_BLOCK);
        gaspi_notify(0, 0, 1, 1, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
        gaspi_wait(1, GASPI_BLOCK);
    } else if (me == 0) {
        int done[2] = {0, 0}, n = 0;
        gaspi_notification_id_t id;
        gaspi_notification_t old;
        while (n < 2)
            for (int i = 0; i < 2; i++)
                if (!done[i] && gaspi_notify_waitsome(0, i, 1, &id, GASPI_TEST) == GASPI_SUCCESS) {
                    gaspi_notify_reset(0, id, &old);
                    done[i] = 1;
                    n++;
                }
        printf("%d\n", cells[0]);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
