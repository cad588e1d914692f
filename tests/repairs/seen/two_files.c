// Two files, neither of which both ranks use.
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
  FILE *f = fopen(me == 0 ? "left.txt" : "right.txt", "w");
  fputs("1", f);
  shmem_barrier_all();  /* goes */
  fputs("2", f);
  fclose(f);
  shmem_finalize();
  return 0;
}
