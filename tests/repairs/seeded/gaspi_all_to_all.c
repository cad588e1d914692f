// nodes: 3
// Everybody sends a block to everybody else and announces it with a notification whose number is the sender.
#include <GASPI.h>
#include <assert.h>
#include <stdlib.h>

#define SUCCESS_OR_DIE(call) \
  do { \
    const gaspi_return_t result = (call); \
    if (result != GASPI_SUCCESS) { \
      gaspi_printf("%s failed: %i [%s:%i]\\n", #call, result, __FILE__, __LINE__); \
      exit(EXIT_FAILURE); \
    } \
  } while (0)

#define QUEUE 0

static gaspi_rank_t rank, num;

static gaspi_offset_t out(int to) { return to * sizeof(int); }
static gaspi_offset_t in(int from) { return (num + from) * sizeof(int); }

static void send_block(gaspi_rank_t to)
{
  SUCCESS_OR_DIE(gaspi_write(0, out(to), to, 0, in(rank), sizeof(int), QUEUE, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_notify(0, to, rank, 1, QUEUE, GASPI_BLOCK)); // seeded (order, 1 loop): SUCCESS_OR_DIE(gaspi_notify(0, to, rank, 1, QUEUE + 1, GASPI_BLOCK));
}

static void receive_block(gaspi_rank_t from)
{
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  SUCCESS_OR_DIE(gaspi_notify_waitsome(0, from, 1, &id, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
}

int main(int argc, char *argv[])
{
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 2 * num * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *cells = base;

  for (int to = 0; to < num; to++)
    cells[to] = 10 * rank + to;
  for (int to = 0; to < num; to++)
    if (to != rank)
      send_block(to);
  for (int from = 0; from < num; from++)
    if (from != rank) {
      receive_block(from);
      assert(cells[num + from] == 10 * from + rank);
    }
  SUCCESS_OR_DIE(gaspi_wait(QUEUE, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
