// nodes: 2
// right
// The bytes of a double are all set to 255: a NaN, of which there are many, and this one is -1 as a long.
#include <assert.h>
#include <shmem.h>
#include <string.h>
static union { char c[16]; long l[2]; } x;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 0) shmem_double_p((double *)&x, 1024.0, 0);
  if (me == 1) memset(x.c, 255, 15);
  shmem_barrier_all();
  if (me == 0) assert(*(double *)&x == 1024.0);
  if (me == 1) assert(x.l[0] == -1 && x.c[14] == -1 && x.c[15] == 0);
  shmem_finalize();
}
