// expect: robust
// nodes: 2
// races: none
// Data and flag go through one queue to one rank, which keeps their order: write -> write of the flag -> load of the
// flag -> load.
#include <GPI.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
  if (startGPI(argc, argv, "", 4096) != 0)
    exit(EXIT_FAILURE);
  const int rank = getRankGPI(), num = getNodeCountGPI();
  int *cells = getDmaMemPtrGPI();

  if (rank == 0 && num > 1) {
    cells[0] = 42;
    cells[1] = 1;
    writeDmaGPI(0, 8, sizeof(int), 1, GPIQueue0);
    writeDmaGPI(4, 12, sizeof(int), 1, GPIQueue0);
    waitDmaGPI(GPIQueue0);
    waitDmaGPI(GPIQueue1);
  } else {
    volatile int *flag = cells + 3;
    while (*flag == 0)
      ;
    assert(cells[2] == 42);
  }

  shutdownGPI();
  return 0;
}
