// Rank 0 asks, and rank 1 reads what is typed.
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
  int value;
  if (me == 0) puts("How many?");
  shmem_barrier_all();  /* stays */
  if (me == 1) scanf("%d", &value);
  shmem_finalize();
  return 0;
}
