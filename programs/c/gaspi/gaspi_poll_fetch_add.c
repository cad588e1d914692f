// expect: robust
// nodes: 2
// races: none
// A counter is asked by adding 0 to it. That is an atomic like any other, no read: each round counts. They are done when
// the call returns, so all orders are those of the program. add -> add of 0.
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

  gaspi_atomic_value_t count;
  SUCCESS_OR_DIE(gaspi_atomic_fetch_add(0, 0, peer, 1, &count, GASPI_BLOCK));
  do {
    SUCCESS_OR_DIE(gaspi_atomic_fetch_add(0, 0, rank, 0, &count, GASPI_BLOCK));
  } while (count == 0);
  printf("%d of %d goes on, %d\n", rank, num, cells[4]);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
