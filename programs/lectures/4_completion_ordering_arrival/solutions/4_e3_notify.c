// expect: robust
// nodes: 2
// races: none
// gaspi_notify comes after all earlier writes of its queue to that rank: write, write -> notification -> load.
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
    gaspi_segment_create(0, 4 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &base);
    int *cells = base;
    const gaspi_rank_t right = (rank + 1) % num;

    cells[0] = 7;
    cells[1] = 9;
    gaspi_write(0, 0, right, 0, 2 * sizeof(int), sizeof(int), 0, GASPI_BLOCK);
    gaspi_write(0, sizeof(int), right, 0, 3 * sizeof(int), sizeof(int), 0, GASPI_BLOCK);
    gaspi_notify(0, right, 0, 1, 0, GASPI_BLOCK);
    gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK);
    assert(cells[2] == 7 && cells[3] == 9);
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return EXIT_SUCCESS;
}
