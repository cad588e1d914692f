// A file that all read, and nobody writes.
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
  FILE *f = fopen("input.txt", "r");
  char line[80];
  if (f) fgets(line, 80, f);
  shmem_barrier_all();  /* goes */
  if (f) { fgets(line, 80, f); fclose(f); }
  shmem_finalize();
  return 0;
}
