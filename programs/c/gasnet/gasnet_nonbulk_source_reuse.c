// expect: robust
// nodes: 2
// races: none
// A put that is no bulk put has captured its source when it returns: it may be changed at once. put -> sync -> barrier
// -> load.
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

static void barrier(void)
{
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

int main(int argc, char *argv[])
{
  SAFE(gasnet_init(&argc, &argv));
  SAFE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0));
  const gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes();
  gasnet_seginfo_t *segments = malloc(nodes * sizeof(gasnet_seginfo_t));
  SAFE(gasnet_getSegmentInfo(segments, nodes));
  int *cells = segments[me].addr;
  const gasnet_node_t right = (me + 1) % nodes, left = (me + nodes - 1) % nodes;
  int *remote = segments[right].addr;

  cells[0] = 1;
  gasnet_handle_t handle = gasnet_put_nb(right, remote + 1, cells, sizeof(int));
  cells[0] = 2;
  gasnet_wait_syncnb(handle);
  barrier();
  assert(cells[1] == 1 && left < nodes);

  free(segments);
  gasnet_exit(0);
  return 0;
}
