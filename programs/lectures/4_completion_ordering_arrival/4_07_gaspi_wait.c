// expect: not robust
// nodes: 2
// races: 1 pair
// Since 2016 gaspi_wait completes the write on the local side, and a barrier completes nothing: load -> write -> wait
// -> barrier -> load.
#include <GASPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    gaspi_rank_t rank, num;
    gaspi_pointer_t base;

    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&rank);
    gaspi_proc_num(&num);
    gaspi_segment_create(0, 2 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &base);
    int *cells = base;

    cells[0] = 7;
    gaspi_write(0, 0, (rank + 1) % num, 0, sizeof(int), sizeof(int), 0, GASPI_BLOCK);
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    assert(cells[1] == 7);
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return EXIT_SUCCESS;
}
