// The header comes before the rows of all.
// nodes: 3
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
  if (me == 0) printf("rank value\n");
  shmem_barrier_all();  /* stays */
  printf("%d %d\n", me, n);
  shmem_finalize();
  return 0;
}
