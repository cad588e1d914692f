// The same without a word of rank 0: the barrier at the end waits.
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
    shmem_long_put_nbi(&x, &one, 1, 1);
    shmem_quiet();  /* goes */
  } else {
    printf("looking\n");
    printf("%ld\n", shmem_long_g(&x, 1));
  }
  shmem_finalize();
  return 0;
}
