// expect: robust
// nodes: 3
// races: none
// A token goes around twice by blocking puts; each rank waits for it in its own memory and passes it on. Every put has
// arrived before the next rank acts.
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

  volatile int *token = cells;
  if (me == 0)
    gasnet_put_val(right, remote, 1, sizeof(int));
  for (int round = 0; round < 2; round++) {
    const int expected = round * nodes + (me + nodes - 1) % nodes + 1;
    GASNET_BLOCKUNTIL(*token == expected);
    if (me != 0 || round == 0)
      gasnet_put_val(right, remote, expected + 1, sizeof(int));
  }
  assert(left < nodes);

  free(segments);
  gasnet_exit(0);
  return 0;
}
