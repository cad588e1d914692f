// expect: not robust
// nodes: 2
// races: 1 pair
// The barrier does not complete the write: load -> writeDmaGPI -> barrierGPI -> load. The paper's first example.
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
  barrierGPI();
  assert(cells[1] == left + 1);

  shutdownGPI();
  return 0;
}
