// Rounds with a header each, that are not known in number.
// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
static long more = 1;
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  while (shmem_long_atomic_fetch(&more, 0)) {
    if (me == 0) puts("round");
    shmem_sync_all();  /* stays */
    if (me == 1) puts("row");
    shmem_sync_all();  /* goes */
    if (me == 0) shmem_long_atomic_set(&more, 0, 0);
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
