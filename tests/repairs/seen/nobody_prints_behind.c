// Rank 0 alone prints, and only before the barrier.
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
  if (me == 0) puts("begin");
  shmem_barrier_all();  /* goes */
  shmem_finalize();
  return 0;
}
