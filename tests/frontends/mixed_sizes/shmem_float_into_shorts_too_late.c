// nodes: 2
// wrong
// The same without the barrier that has the bytes arrive.
#include <assert.h>
#include <shmem.h>
static union { char c[8]; short s[4]; } to;
static short of[4] = {0, 0, 7, 8};
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  *(float *)of = -1.5f;
  shmem_barrier_all();
  if (me == 0) shmem_putmem(&to, of, 8, 1);
  if (me == 1) assert(to.s[1] == (short)0xbfc0);
  shmem_barrier_all();
  shmem_finalize();
}
