// expect: not robust
// nodes: 2
// races: 3 pairs
// The lock is given on while the write is in flight: read (next holder) -> write -> unlock -> lock -> read.
#include <GPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
  if (startGPI(argc, argv, "", 4096) != 0)
    exit(EXIT_FAILURE);
  const int rank = getRankGPI(), num = getNodeCountGPI();
  int *cells = getDmaMemPtrGPI();

  while (globalResourceLockGPI() != 0)
    ;
  readDmaGPI(4, 0, sizeof(int), 0, GPIQueue0);
  waitDmaGPI(GPIQueue0);
  cells[1] += 1;
  writeDmaGPI(4, 0, sizeof(int), 0, GPIQueue0);
  globalResourceUnlockGPI();
  barrierGPI();
  assert(rank > 0 || num < 1 || cells[0] == num);

  shutdownGPI();
  return 0;
}
