// Rank 0 reads the files that all have written.
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
  char name[32];
  sprintf(name, "part.%d", me);
  FILE *f = fopen(name, "w");
  fprintf(f, "%d\n", me);
  fclose(f);
  shmem_barrier_all();  /* stays */
  if (me == 0)
    for (int i = 0; i < n; i++) {
      sprintf(name, "part.%d", i);
      FILE *part = fopen(name, "r");
      if (part) fclose(part);
    }
  shmem_finalize();
  return 0;
}
