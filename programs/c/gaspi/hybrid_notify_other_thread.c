// expect: not robust
// nodes: 2
// races: 1 pair
// The thread that notifies uses another queue than the one that has written: the notification says nothing of the data.
#include <GASPI.h>
#include <omp.h>

int seen;

int main(void)
{
    gaspi_rank_t rank;
    gaspi_pointer_t pointer;
    gaspi_notification_id_t id;
    gaspi_notification_t value;

    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&rank);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &pointer);
    int *cells = pointer;
    if (rank == 0) {
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
            if (me == 0) {
                cells[4] = 9;
                gaspi_write(0, 16, 1, 0, 0, 4, me, GASPI_BLOCK);
            }
#pragma omp barrier
            if (me == 1)
                gaspi_notify(0, 1, 0, 1, me, GASPI_BLOCK);
        }
    } else {
        gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK);
        gaspi_notify_reset(0, id, &value);
        seen = cells[0];
    }
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_wait(1, GASPI_BLOCK);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
