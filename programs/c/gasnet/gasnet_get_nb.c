// expect: not robust
// nodes: 2
// races: 1 pair
// The data are used before the get has been waited for: load -> get by the conflict on the landing cell, get -> load by
// program order.
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

  cells[0] = me + 1;
  barrier();
  int value = 0;
  gasnet_handle_t handle = gasnet_get_nb(&value, right, remote, sizeof(int));
  assert(value == right + 1 && left < nodes);

  gasnet_wait_syncnb(handle);
  free(segments);
  gasnet_exit(0);
  return 0;
}
