// nodes: 2
// right
// Half of an int lies in a cell, for what another rank sets there; an int is copied with both halves.
#include <assert.h>
#include <shmem.h>
#include <string.h>
static int x[2] = {1, 0x6c6b6a69}, y[2];
static short got;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 0) memmove(y, x, 8);
  shmem_barrier_all();
  if (me == 1) *(short *)(x + 1) = shmem_short_g(&got, 1);
  shmem_barrier_all();
  if (me == 0) assert(((short *)y)[3] == 0x6c6b && y[1] == 0x6c6b6a69);
  shmem_finalize();
}
