// expect: not robust
// nodes: 2
// races: 1 pair
// gaspi_read only posts the request: what it reads may come after cells[1] has been looked at.
#include <GASPI.h>
#include <stdio.h>
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

    gaspi_read(0, sizeof(int), (rank + 1) % num, 0, 0, sizeof(int), 0, GASPI_BLOCK);
    printf("%d\n", cells[1]);
    gaspi_proc_term(GASPI_BLOCK);
    return EXIT_SUCCESS;
}
