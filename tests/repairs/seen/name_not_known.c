// The name of the file is read from the terminal: it may be that of the other file.
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
  if (me == 0) {
    scanf("%31s", name);
    FILE *f = fopen(name, "w");
    fputs("1", f);
    fclose(f);
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) { FILE *f = fopen("input.txt", "r"); if (f) fclose(f); }
  shmem_finalize();
  return 0;
}
