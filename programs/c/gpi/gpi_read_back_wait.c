// expect: robust
// nodes: 2
// races: none
// The write is complete on both sides before the read is posted: write -> waitDmaGPI -> read.
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
  waitDmaGPI(GPIQueue0);
  readDmaGPI(8, 4, sizeof(int), right, GPIQueue0);
  waitDmaGPI(GPIQueue0);
  assert(cells[2] == rank + 1 && left < num);

  shutdownGPI();
  return 0;
}
