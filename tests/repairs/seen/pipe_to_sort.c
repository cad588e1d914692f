// A pipe to a program that prints.
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
    FILE *f = popen("sort", "w");
    fprintf(f, "b\na\n");
    pclose(f);
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) puts("sorted");
  shmem_finalize();
  return 0;
}
