// expect: robust
// nodes: 2
// races: 1 pair
// synchronised: no (fails, race)
// Work between the halves of a barrier may be too late for the others, on SC runs as well, where the assertion fails.
// But nothing is delayed: each put is complete when it returns, so every run is an SC run.
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
  const gasnet_node_t right = (me + 1) % nodes, left = (me + nodes - 1) % nodes;
  int *remote = segments[right].addr;

  int value = me + 1;
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_put(right, remote + 1, &value, sizeof(int));
  SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
  assert(cells[1] == left + 1);

  free(segments);
  gasnet_exit(0);
  return 0;
}
