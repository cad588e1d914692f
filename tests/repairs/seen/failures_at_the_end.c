// Two ranks that end with a failure, in any order, and nobody writes behind it.
// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
static long x;
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  if (me == 0) puts("result");
  shmem_barrier_all();
  shmem_barrier_all();  /* goes */
  if (x != 1) exit(1);
  shmem_finalize();
  return 0;
}
