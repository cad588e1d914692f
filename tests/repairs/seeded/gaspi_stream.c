// nodes: 2
// A stream of items from rank 0 to rank 1 through slots of their own, all sent from one cell.
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

#define ITEMS 3

static void produce(int *cells)
{
  for (int i = 0; i < ITEMS; i++) {
    cells[0] = i * i;
    SUCCESS_OR_DIE(gaspi_write_notify(0, 0, 1, 0, (1 + i) * sizeof(int), sizeof(int), i, 1, 0, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK)); // seeded (completion, 1 loop): remove
  }
}

static int consume(const int *cells)
{
  int sum = 0;
  for (int i = 0; i < ITEMS; i++) {
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    SUCCESS_OR_DIE(gaspi_notify_waitsome(0, i, 1, &id, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
    sum += cells[1 + i];
  }
  return sum;
}

int main(int argc, char *argv[])
{
  gaspi_rank_t rank;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_segment_create(0, (1 + ITEMS) * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  if (rank == 0)
    produce(base);
  else if (rank == 1)
    gaspi_printf("%d\n", consume(base));
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
