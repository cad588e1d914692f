// expect: not robust
// nodes: 2
// races: 1 pair
// A queue keeps the order of what arrives, but a read may look at the other side before an earlier write has arrived
// there: read -> write by the conflict on the cell, write -> read by program order.
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

  cells[0] = rank + 1;
  writeDmaGPI(0, 4, sizeof(int), right, GPIQueue0);
  readDmaGPI(8, 4, sizeof(int), right, GPIQueue0);
  waitDmaGPI(GPIQueue0);
  assert(cells[2] == rank + 1 && left < num);

  shutdownGPI();
  return 0;
}
