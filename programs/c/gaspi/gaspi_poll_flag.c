// expect: not robust
// nodes: 2
// races: 1 pair
// A flag is no notification: nothing orders two writes of one queue. load -> write -> write of the flag -> load of the
// flag -> load.
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

  cells[0] = 10 + rank;
  cells[1] = 1;
  SUCCESS_OR_DIE(gaspi_write(0, 0, peer, 0, 2 * sizeof(int), sizeof(int), 0, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_write(0, sizeof(int), peer, 0, 3 * sizeof(int), sizeof(int), 0, GASPI_BLOCK));
  volatile int *flag = &cells[3];
  while (*flag == 0)
    ;
  printf("%d: %d\n", rank, cells[2]);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
