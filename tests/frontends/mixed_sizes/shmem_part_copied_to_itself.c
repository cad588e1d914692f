// nodes: 2
// right
// From its beginning, a part of a variable is copied to where it is; the rest of the variable stays, too.
#include <assert.h>
#include <shmem.h>
#include <string.h>
static long x[2] = {0x1817161514131211, 0x2827262524232221};
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 1) memmove((char *)x + 8, (char *)x + 8, 4);
  shmem_barrier_all();
  assert(*(int *)((char *)x + 8) == 0x24232221);
  assert(x[1] == 0x2827262524232221);
  shmem_finalize();
}
