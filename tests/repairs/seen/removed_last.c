// The file is removed when it has been read.
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
  if (me == 1) { FILE *f = fopen("a.txt", "r"); if (f) fclose(f); }
  shmem_barrier_all();  /* stays */
  if (me == 0) remove("a.txt");
  shmem_finalize();
  return 0;
}
