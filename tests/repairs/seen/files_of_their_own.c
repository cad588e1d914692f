// Each rank has a file of its own.
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
  char name[32];
  sprintf(name, "part.%d", me);
  FILE *f = fopen(name, "w");
  fprintf(f, "first\n");
  shmem_barrier_all();  /* goes */
  fprintf(f, "second\n");
  fclose(f);
  shmem_finalize();
  return 0;
}
