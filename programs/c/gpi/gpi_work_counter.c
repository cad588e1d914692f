// expect: robust
// nodes: 2
// races: none
// Ranks draw numbers from a global counter until all tasks are taken, and add to the sum with another counter. Atomics
// are blocking, so every run is an SC run.
#include <GPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
  if (startGPI(argc, argv, "", 4096) != 0)
    exit(EXIT_FAILURE);
  const int rank = getRankGPI(), num = getNodeCountGPI();
  int *cells = getDmaMemPtrGPI();

  unsigned long task;
  while ((task = atomicFetchAddCntGPI(1, GPICounter0)) < 3)
    atomicFetchAddCntGPI(task + 1, GPICounter1);
  barrierGPI();
  assert(atomicFetchAddCntGPI(0, GPICounter1) == 6);
  if (rank >= num)
    cells[0] = 1;

  shutdownGPI();
  return 0;
}
