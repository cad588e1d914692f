// Rank 0 renames what it has written to what rank 1 reads.
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
  if (me == 0) {
    FILE *f = fopen("new.txt", "w");
    fputs("1", f);
    fclose(f);
    rename("new.txt", "now.txt");
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) { FILE *f = fopen("now.txt", "r"); if (f) fclose(f); }
  shmem_finalize();
  return 0;
}
