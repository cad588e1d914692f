// expect: robust
// nodes: 2
// races: none
// The queue is asked until it is complete, so the source is free when the loop ends: write -> gaspi_wait -> store.
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

  if (rank == 0) {
    cells[0] = 1;
    SUCCESS_OR_DIE(gaspi_write(0, 0, 1, 0, sizeof(int), sizeof(int), 0, GASPI_BLOCK));
    while (gaspi_wait(0, GASPI_TEST) != GASPI_SUCCESS)
      ;
    cells[0] = 2;
  }

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
