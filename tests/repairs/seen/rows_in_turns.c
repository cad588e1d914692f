// Each rank prints when it is its turn.
// nodes: 3
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
  for (int i = 0; i < n; i++) {
    if (i == me) printf("rank %d\n", me);
    shmem_sync_all();  /* stays */
  }
  shmem_finalize();
  return 0;
}
