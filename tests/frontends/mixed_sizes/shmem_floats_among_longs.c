// nodes: 2
// right
// Of arrays of longs one has a float at its end, which is put with the longs before it, and an int is read of it.
#include <assert.h>
#include <shmem.h>
static long of[3] = {1, 2, 3}, to[3];
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 0) {
    *(float *)(of + 2) = 1.5f;
    shmem_putmem(to, of, 24, 1);
  }
  shmem_barrier_all();
  if (me == 1) assert(to[1] == 2 && *(int *)(to + 2) == 0x3fc00000);
  shmem_finalize();
}
