// expect: robust
// nodes: 2
// races: none
// A counter on rank 0 under the global lock; the write has arrived before the lock is given on, so critical sections do
// not overlap.
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
  waitDmaGPI(GPIQueue0);
  globalResourceUnlockGPI();
  barrierGPI();
  assert(rank > 0 || num < 1 || cells[0] == num);

  shutdownGPI();
  return 0;
}
