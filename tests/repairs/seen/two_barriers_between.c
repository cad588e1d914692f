// One of two barriers between the lines is enough, and either may go.
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
  if (me == 0) puts("one");
  shmem_barrier_all();  /* goes */
  shmem_barrier_all();  /* goes */
  if (me == 1) puts("two");
  shmem_finalize();
  return 0;
}
