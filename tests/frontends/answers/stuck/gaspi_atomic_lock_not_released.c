// nodes: 2
// A lock by gaspi_atomic_compare_swap that nobody releases.
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
    gaspi_atomic_value_t old;
    do {
        gaspi_atomic_compare_swap(0, 0, 0, 0, 1, &old, GASPI_BLOCK);
    } while (old != 0);
#ifdef REPAIRED
    gaspi_atomic_compare_swap(0, 0, 0, 1, 0, &old, GASPI_BLOCK);
#endif
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
