// nodes: 2
// right
// A float is set as an int, and bytes of it are read elsewhere before: they are those of the float.
#include <assert.h>
#include <shmem.h>
#include <string.h>
static float of[2] = {1.5f, -1.5f};
static char to[8];
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 0) memmove(to + 1, (char *)of + 6, 2);
  shmem_barrier_all();
  if (me == 0) *(int *)(of + 1) = shmem_int_g((int *)(to + 4), 1);
  shmem_barrier_all();
  if (me == 0) assert(to[1] == (char)0xc0 && to[2] == (char)0xbf);
  shmem_finalize();
}
