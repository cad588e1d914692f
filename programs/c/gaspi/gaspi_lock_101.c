// expect: robust
// nodes: 2
// races: none
// api: gaspi-1.01
// The program of gaspi_lock.c under the document of 2013: gaspi_wait completes the write on both sides before the lock
// is released, so critical sections do not overlap and all conflicts follow the lock.
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

static void acquire(gaspi_rank_t rank)
{
  gaspi_atomic_value_t old;
  do
    SUCCESS_OR_DIE(gaspi_atomic_compare_swap(0, 0, 0, 0, rank + 1, &old, GASPI_BLOCK));
  while (old != 0);
}

static void release(gaspi_rank_t rank)
{
  gaspi_atomic_value_t old;
  SUCCESS_OR_DIE(gaspi_atomic_compare_swap(0, 0, 0, rank + 1, 0, &old, GASPI_BLOCK));
  assert(old == rank + 1);
}

int main(int argc, char *argv[])
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 3 * sizeof(gaspi_atomic_value_t),
                                      GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  gaspi_atomic_value_t *cells = base;

  acquire(rank);
  SUCCESS_OR_DIE(gaspi_read(0, 16, 0, 0, 8, 8, 0, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
  cells[2] += 1;
  SUCCESS_OR_DIE(gaspi_write(0, 16, 0, 0, 8, 8, 0, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
  release(rank);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
