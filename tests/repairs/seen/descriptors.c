// Descriptors of files: which file they are for is not known.
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
  int f = open(me == 0 ? "a" : "b", O_WRONLY | O_CREAT, 0600);
  if (me == 0) write(f, "1", 1);
  shmem_barrier_all();  /* stays */
  if (me == 1) write(f, "2", 1);
  shmem_finalize();
  return 0;
}
