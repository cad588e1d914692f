// expect: robust
// nodes: 3
// races: none
// Rank 0 asks for work, whoever sends first; the message is in its segment when gaspi_passive_receive returns. Every
// message is sent from memory that nobody changes.
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
    int sum = 0;
    for (int i = 1; i < num; i++) {
      gaspi_rank_t sender;
      SUCCESS_OR_DIE(gaspi_passive_receive(0, sizeof(int), &sender, sizeof(int), GASPI_BLOCK));
      assert(cells[1] == sender);
      sum += cells[1];
    }
    assert(sum == num * (num - 1) / 2);
  } else {
    cells[0] = rank;
    SUCCESS_OR_DIE(gaspi_passive_send(0, 0, 0, sizeof(int), GASPI_BLOCK));
  }

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
