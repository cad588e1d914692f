// The same with variables that are gone at the end.
// nodes: 3
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
static long x, y;
static void show(void) {
  long later, first;
  shmem_long_get(&later, &y, 1, 1);
  shmem_long_get(&first, &x, 1, 1);
  printf("%ld %ld\n", later, first);
}
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_team_t ends;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &ends);
  if (me == 2) {
    shmem_long_p(&x, 1, 1);
    shmem_quiet();
  }
  if (me != 1) shmem_team_sync(ends);  /* stays */
  if (me == 0) {
    shmem_long_p(&y, 1, 1);
    shmem_quiet();
  }
  if (me == 1) show();
  shmem_finalize();
  return 0;
}
