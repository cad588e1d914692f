// nodes: 2
// right
// shared-memory: all
#include <assert.h>
#include <shmem.h>
#include <string.h>
// A double is stored in memory of another rank, which lies in pieces for what another rank does.
static struct { int a; short b; char c, d; } x[3];
static union { char c[24]; long l[3]; } y;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  char *p = (char *)x, *q = (char *)&y;
  if (me == 1) shmem_getmem(q + 11, p + 3, 12, 0);
  shmem_barrier_all();
  if (me == 1) memmove(q, p + 11, 7);
  shmem_barrier_all();
  if (me == 1) *(int *)(p + 3) = *(int *)(q + 11);
  shmem_barrier_all();
  if (me == 0) *(double *)shmem_ptr(p, 1) = -1.5;
  shmem_barrier_all();
  if (me == 1) assert(*(double *)p == -1.5);
  shmem_finalize();
}
