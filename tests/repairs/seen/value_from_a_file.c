// What is read from the file is not known, but it is another value than that before.
// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
static long x;
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  if (me == 0) {
    long value = 0;
    FILE *f = fopen("in.txt", "r");
    if (f) { fscanf(f, "%ld", &value); fclose(f); }
    for (int i = 0; i < n; i++) shmem_long_p(&x, value, i);
    shmem_quiet();
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) printf("%d has %ld\n", me, x);
  shmem_barrier_all();  /* goes */
  shmem_finalize();
  return 0;
}
