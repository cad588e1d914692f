// nodes: 3
// Two ranks race for a cell that rank 0 sets again behind the barrier.
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
    cells[0] = me;
    if (me > 0) {
        gaspi_write(0, 0, 0, 0, 4, 4, 0, GASPI_BLOCK);
        gaspi_wait(0, GASPI_BLOCK);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    if (me == 0) {
        cells[1] = 0;
        printf("%d\n", cells[1]);
    }
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
