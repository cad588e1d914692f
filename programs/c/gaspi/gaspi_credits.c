// expect: robust
// nodes: 4
// races: none
// A pipeline with credits: 64 blocks go from rank to rank through a few slots. A block is announced by a notification
// that comes after it; a slot is written again only after its reader has given it back by a notification, and its
// source only after gaspi_wait. write -> notification -> waitsome -> load -> notify (credit) -> waitsome -> write.
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

#ifndef BLOCKS
#define BLOCKS 64
#endif
#define SLOTS 4
#define LENGTH 4 /* numbers of a block */

enum { SEGMENT = 0, QUEUE = 0 };
/* Notifications: the block in slot s has come; slot s of the right neighbour is free again. */
enum { FULL = 0, FREE = SLOTS };

/* In the segment: the slots that the left neighbour writes, and those that the right neighbour's are written from. */
static int *in, *out;

static gaspi_offset_t offset_of_in(int slot)
{
  return slot * LENGTH * sizeof(int);
}

static gaspi_offset_t offset_of_out(int slot)
{
  return (SLOTS + slot) * LENGTH * sizeof(int);
}

static void await(gaspi_notification_id_t wanted)
{
  gaspi_notification_id_t id;
  gaspi_notification_t value;

  SUCCESS_OR_DIE(gaspi_notify_waitsome(SEGMENT, wanted, 1, &id, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_notify_reset(SEGMENT, id, &value));
}

static void send(int slot, gaspi_rank_t to)
{
  SUCCESS_OR_DIE(gaspi_write_notify(SEGMENT, offset_of_out(slot), to, SEGMENT, offset_of_in(slot),
                                    LENGTH * sizeof(int), FULL + slot, 1, QUEUE, GASPI_BLOCK));
}

static void give_back(int slot, gaspi_rank_t to)
{
  SUCCESS_OR_DIE(gaspi_notify(SEGMENT, to, FREE + slot, 1, QUEUE, GASPI_BLOCK));
}

int main(void)
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;
  long sum = 0;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(SEGMENT, 2 * SLOTS * LENGTH * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK,
                                      GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(SEGMENT, &base));
  in = base;
  out = in + SLOTS * LENGTH;

  for (int block = 0; block < BLOCKS; block++) {
    const int slot = block % SLOTS;
    const int last = rank == num - 1;
    int *const from = in + slot * LENGTH, *const to = out + slot * LENGTH;

    if (rank > 0)
      await(FULL + slot);
    if (!last && block >= SLOTS)
      await(FREE + slot);
    for (int i = 0; i < LENGTH; i++) {
      const int value = rank == 0 ? block * LENGTH + i : 3 * from[i] + rank;
      if (last)
        sum += value;
      else
        to[i] = value;
    }
    if (rank > 0)
      give_back(slot, rank - 1);
    if (!last)
      send(slot, rank + 1);
    SUCCESS_OR_DIE(gaspi_wait(QUEUE, GASPI_BLOCK));
  }
  if (rank == num - 1)
    printf("%ld\n", sum);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
