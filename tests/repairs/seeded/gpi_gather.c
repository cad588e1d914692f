// nodes: 3
// Rank 0 reads what the others have computed, from even ranks in one queue and from odd ones in another.
#include <GPI.h>
#include <stdlib.h>

#define CHECK(call) \
  do { \
    if ((call) != 0) \
      exit(EXIT_FAILURE); \
  } while (0)

static int *cells; /* [own, copies by rank ...] */

static int gather(int num)
{
  int sum = cells[0];
  for (int from = 1; from < num; from++)
    CHECK(readDmaGPI((1 + from) * sizeof(int), 0, sizeof(int), from, from % 2 ? GPIQueue1 : GPIQueue0));
  waitDmaGPI(GPIQueue0);
  waitDmaGPI(GPIQueue1); // seeded (completion): remove
  for (int from = 1; from < num; from++)
    sum += cells[1 + from];
  return sum;
}

int main(int argc, char *argv[])
{
  CHECK(startGPI(argc, argv, "", 8 * sizeof(int)));
  const int rank = getRankGPI();
  cells = getDmaMemPtrGPI();
  cells[0] = (rank + 1) * (rank + 1);
  barrierGPI();
  if (rank == 0)
    gpi_printf("%d\n", gather(getNodeCountGPI()));
  barrierGPI();
  shutdownGPI();
  return EXIT_SUCCESS;
}
