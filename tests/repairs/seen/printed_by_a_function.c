// The variable that is printed is gone at the end of the run.
// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
static long x;
static void show(void) {
  long got;
  shmem_long_get(&got, &x, 1, 0);
  printf("%ld\n", got);
}
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  if (me == 0) {
    shmem_long_p(&x, 1, 0);
    shmem_quiet();
  }
  shmem_barrier_all();  /* stays */
  if (me == 1) show();
  shmem_finalize();
  return 0;
}
