// nodes: 2
// The next tile is read from the neighbour while one is worked on; each of two buffers has a queue of its own.
#include <GASPI.h>
#include <stdlib.h>

#define SUCCESS_OR_DIE(call) \
  do { \
    const gaspi_return_t result = (call); \
    if (result != GASPI_SUCCESS) { \
      gaspi_printf("%s failed: %i [%s:%i]\\n", #call, result, __FILE__, __LINE__); \
      exit(EXIT_FAILURE); \
    } \
  } while (0)

#define TILES 3

static gaspi_rank_t rank, num;

/* Tile number `tile` of rank `from` into buffer `which`, in the queue of that number. */
static void prefetch(gaspi_rank_t from, int tile, int which)
{
  SUCCESS_OR_DIE(gaspi_read(0, (TILES + which) * sizeof(int), from, 0, tile * sizeof(int), sizeof(int), which, GASPI_BLOCK));
}

int main(int argc, char *argv[])
{
  gaspi_pointer_t base;
  int sum = 0;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, (TILES + 2) * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *cells = base;
  for (int tile = 0; tile < TILES; tile++)
    cells[tile] = rank + tile;
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));

  const gaspi_rank_t from = (rank + 1) % num;
  prefetch(from, 0, 0);
  for (int tile = 0; tile < TILES; tile++) {
    const int which = tile % 2;
    if (tile + 1 < TILES)
      prefetch(from, tile + 1, 1 - which);
    SUCCESS_OR_DIE(gaspi_wait(which, GASPI_BLOCK)); // seeded (completion, 1 loop): SUCCESS_OR_DIE(gaspi_wait(1 - which, GASPI_BLOCK));
    sum += cells[TILES + which];
  }
  gaspi_printf("%d\n", sum);
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
