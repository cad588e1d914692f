// expect: robust
// nodes: 3
// races: none
// Every rank puts one element of its row to every rank, with a list of handles that are all complete before the
// barrier: put -> sync -> barrier -> load.
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

  gasnet_handle_t handles[nodes];
  int row[nodes];
  for (int i = 0; i < nodes; i++) {
    row[i] = 10 * me + i;
    handles[i] = gasnet_put_nb_bulk(i, (int *) segments[i].addr + me, &row[i], sizeof(int));
  }
  gasnet_wait_syncnb_all(handles, nodes);
  barrier();
  for (int i = 0; i < nodes; i++)
    assert(cells[i] == 10 * i + me && handles[i] == GASNET_INVALID_HANDLE);

  free(segments);
  gasnet_exit(0);
  return 0;
}
