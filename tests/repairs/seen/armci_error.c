// An error of one rank ends the run.
// nodes: 2
#include <armci.h>
#include <stdio.h>
int main(int argc, char **argv) {
  ARMCI_Init_args(&argc, &argv);
  if (armci_msg_me() == 0) puts("result");
  ARMCI_Barrier();  /* stays */
  if (armci_msg_me() == 1) ARMCI_Error("stop", 1);
  ARMCI_Finalize();
  return 0;
}
