// expect: robust
// nodes: 2
// races: none
// A reduction of what every rank has; all have arrived when it returns, and each writes its own memory. Writes of the
// first part are complete before.
#include <GPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
  if (startGPI(argc, argv, "", 4096) != 0)
    exit(EXIT_FAILURE);
  const int rank = getRankGPI(), num = getNodeCountGPI();
  int *cells = getDmaMemPtrGPI();
  const int right = (rank + 1) % num, left = (rank + num - 1) % num;

  int mine = rank + 1, sum;
  cells[0] = mine;
  writeDmaGPI(0, 4, sizeof(int), right, GPIQueue0);
  waitDmaGPI(GPIQueue0);
  allReduceGPI(&mine, &sum, 1, GPI_SUM, GPI_INT);
  assert(cells[1] == left + 1 && sum == num * (num + 1) / 2);

  shutdownGPI();
  return 0;
}
