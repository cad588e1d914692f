// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Each rank writes a flag to the other and reads the one that it has been written back, until it is set; the read goes
// over the network and is waited for. Nobody else uses the cell that it goes to, so a round that brings 0 changes
// nothing. Counted: read (rank 0) -> write (rank 1) -> read (rank 1) -> write (rank 0) -> read (rank 0).
#include <GASPI.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SUCCESS_OR_DIE(call) \
  do { \
    const gaspi_return_t result = (call); \
    if (result != GASPI_SUCCESS) { \
      fprintf(stderr, "%s failed: %i [%s:%i]\n", #call, result, __FILE__, __LINE__); \
      exit(EXIT_FAILURE); \
    } \
  } while (0)

int main(int argc, char *argv[])
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 8 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *cells = base;
  const gaspi_rank_t peer = (rank + 1) % num;

  cells[0] = 1;
  SUCCESS_OR_DIE(gaspi_write(0, 0, peer, 0, sizeof(int), sizeof(int), 0, GASPI_BLOCK));
  do {
    SUCCESS_OR_DIE(gaspi_read(0, 2 * sizeof(int), rank, 0, sizeof(int), sizeof(int), 1, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_wait(1, GASPI_BLOCK));
  } while (cells[2] == 0);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
