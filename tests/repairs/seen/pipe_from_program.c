// A program that reads a file: which one is not known.
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
  if (me == 0) { FILE *f = fopen("a.txt", "w"); fputs("1", f); fclose(f); }
  shmem_barrier_all();  /* stays */
  if (me == 1) {
    FILE *f = popen("cat a.txt", "r");
    fgets(line, 80, f);
    pclose(f);
  }
  shmem_finalize();
  return 0;
}
