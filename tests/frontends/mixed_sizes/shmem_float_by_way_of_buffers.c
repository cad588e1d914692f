// nodes: 2
// right
// A float goes through two buffers, in which nothing is looked at, to where it is read as an int.
#include <assert.h>
#include <shmem.h>
static float of[2];
static char first[8], second[8];
static int to[2];
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  of[1] = me + 1.5f;
  if (me == 0) shmem_putmem(first, of, 8, 1);
  shmem_barrier_all();
  if (me == 1) shmem_putmem(second, first, 8, 0);
  shmem_barrier_all();
  if (me == 0) shmem_getmem(to, second, 8, 0);
  if (me == 0) assert(to[1] == 0x3fc00000);
  shmem_finalize();
}
