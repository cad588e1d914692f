// expect: robust
// nodes: 2
// races: none
// Waiting is remote in GASNet: the handle is complete when the put has arrived. put -> wait -> barrier -> load.
#include <assert.h>
#include <gasnet.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    int x = 7;

    gasnet_init(&argc, &argv);
    gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0);
    const gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes();
    gasnet_seginfo_t *segments = malloc(nodes * sizeof(gasnet_seginfo_t));
    gasnet_getSegmentInfo(segments, nodes);
    int *y = segments[me].addr;

    gasnet_handle_t handle = gasnet_put_nb((me + 1) % nodes, segments[(me + 1) % nodes].addr, &x, sizeof(int));
    gasnet_wait_syncnb(handle);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    assert(*y == 7);
    free(segments);
    gasnet_exit(0);
    return 0;
}
