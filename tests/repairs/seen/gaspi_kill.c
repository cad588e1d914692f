// What a rank prints that another one kills.
// nodes: 2
#include <GASPI.h>
#include <stdio.h>
int main(void) {
  gaspi_rank_t me;
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_proc_rank(&me);
  if (me == 1) puts("result");
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);  /* stays */
  if (me == 0) gaspi_proc_kill(1, GASPI_BLOCK);
  gaspi_proc_term(GASPI_BLOCK);
  return 0;
}
