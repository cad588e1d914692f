// nodes: 2
#include <GASPI.h>
#include <stdio.h>
int main(void) {
    gaspi_rank_t me;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    if (me == 1) {
        gaspi_notify(0, 0, 0, 1, 0, GASPI_BLOCK);
        gaspi_notify(0, 0, 1, 1, 0, GASPI_BLOCK);
        gaspi_notify(0, 0, 2, 1, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    } else if (me == 0) {
        int done[3] = {0, 0, 0}, n = 0;
        gaspi_notification_id_t id;
        gaspi_notification_t old;
        while (n < 3)
            for (int i = 0; i < 3; i++)
                if (!done[i] && gaspi_notify_waitsome(0, i, 1, &id, GASPI_TEST) == GASPI_SUCCESS) {
                    gaspi_notify_reset(0, id, &old);
                    done[i] = 1;
                    n++;
                }
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
