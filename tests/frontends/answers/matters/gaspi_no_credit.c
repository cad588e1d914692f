// nodes: 2
// The second item overwrites the first one, which rank 1 may not have read.
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
    int sum = 0;
    for (int i = 1; i <= 2; i++) {
        if (me == 0) {
#ifdef REPAIRED
            if (i > 1) {
                gaspi_notify_waitsome(0, 2, 1, &id, GASPI_BLOCK);
                gaspi_notify_reset(0, id, &value);
            }
#endif
            cells[0] = i;
            gaspi_write_notify(0, 0, 1, 0, 4, 4, i - 1, 1, 0, GASPI_BLOCK);
            gaspi_wait(0, GASPI_BLOCK);
        } else if (me == 1) {
            gaspi_notify_waitsome(0, i - 1, 1, &id, GASPI_BLOCK);
            gaspi_notify_reset(0, id, &value);
            sum += 10 * cells[1];
#ifdef REPAIRED
            gaspi_notify(0, 0, 2, 1, 0, GASPI_BLOCK);
#endif
        }
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    if (me == 1)
        printf("%d\n", sum);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
