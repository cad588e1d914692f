// nodes: 2
// right
// A struct with an int is copied by a rank, and another reads the int as a float.
#include <assert.h>
#include <shmem.h>
struct three { short a, b, c; };
static struct { int a; short b; } of = {0x3fc00000, 7};
static char to[8];
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 0) assert(*(float *)&of == 1.5f);
  if (me == 1) *(struct three *)to = *(struct three *)&of;
  if (me == 1) shmem_char_p(to + 7, 9, 0);
  shmem_barrier_all();
  if (me == 0) assert(to[7] == 9 && to[3] == 0);
  if (me == 1) assert(*(int *)to == 0x3fc00000 && to[4] == 7);
  shmem_finalize();
}
