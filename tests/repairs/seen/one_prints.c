// Nobody else prints: a barrier between two lines of one rank orders nothing that is seen.
// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  if (me == 0) printf("begin\n");
  shmem_barrier_all();  /* goes */
  if (me == 0) printf("end\n");
  shmem_finalize();
  return 0;
}
