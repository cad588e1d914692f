// Rank 1 reads the file that rank 0 has written.
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
  char line[80];
  if (me == 0) {
    FILE *f = fopen("result.txt", "w");
    fprintf(f, "%d\n", n);
    fclose(f);
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) {
    FILE *f = fopen("result.txt", "r");
    if (f) { fgets(line, sizeof line, f); fclose(f); }
  }
  shmem_finalize();
  return 0;
}
