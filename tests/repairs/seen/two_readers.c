// What rank 0 has written is read by two ranks, in any order.
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
  if (me == 0) { FILE *f = fopen("a.txt", "w"); fputs("1", f); fclose(f); }
  shmem_barrier_all();
  if (me == 2) { FILE *f = fopen("a.txt", "r"); if (f) fclose(f); }
  shmem_barrier_all();  /* goes */
  if (me == 1) { FILE *f = fopen("a.txt", "r"); if (f) fclose(f); }
  shmem_finalize();
  return 0;
}
