// expect: not robust
// nodes: 2
// races: 1 pair
// Nothing orders implicit puts, not even to the same rank: load -> put -> put of the flag -> load of the flag -> load.
#include <gasnet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SAFE(call) \
  do { \
    const int status = (call); \
    if (status != GASNET_OK) { \
      fprintf(stderr, "%s failed with %d\n", #call, status); \
      gasnet_exit(1); \
    } \
  } while (0)

int main(int argc, char *argv[])
{
  SAFE(gasnet_init(&argc, &argv));
  SAFE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0));
  const gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes();
  gasnet_seginfo_t *segments = malloc(nodes * sizeof(gasnet_seginfo_t));
  SAFE(gasnet_getSegmentInfo(segments, nodes));
  int *cells = segments[me].addr;

  if (me == 0) {
    int data = 42, *remote = segments[1].addr;
    gasnet_put_nbi(1, remote + 2, &data, sizeof(int));
    gasnet_put_nbi_val(1, remote + 3, 1, sizeof(int));
    gasnet_wait_syncnbi_puts();
  } else if (me == 1) {
    volatile int *flag = cells + 3;
    GASNET_BLOCKUNTIL(*flag != 0);
    assert(cells[2] == 42);
  }

  free(segments);
  gasnet_exit(0);
  return 0;
}
