// Who sees the file may read what was put before it was made.
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
  long one = 1;
  if (me == 0) {
    shmem_long_put(&x, &one, 1, 1);
    shmem_quiet();  /* stays */
    FILE *f = fopen("ready", "w");
    fclose(f);
  } else if (access("ready", F_OK) == 0) {
    printf("%ld\n", x);
  }
  shmem_finalize();
  return 0;
}
