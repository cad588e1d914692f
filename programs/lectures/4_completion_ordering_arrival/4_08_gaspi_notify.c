// expect: robust
// nodes: 2
// races: none
// The notification comes after its own data, and tells the neighbour at once: write -> notification -> waitsome ->
// load.
#include <GASPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    gaspi_rank_t rank, num;
    gaspi_pointer_t base;
    gaspi_notification_id_t id;

    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&rank);
    gaspi_proc_num(&num);
    gaspi_segment_create(0, 2 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &base);
    int *cells = base;

    cells[0] = 7;
    gaspi_write_notify(0, 0, (rank + 1) % num, 0, sizeof(int), sizeof(int), 0, 1, 0, GASPI_BLOCK);
    gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK);
    assert(cells[1] == 7);
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return EXIT_SUCCESS;
}
