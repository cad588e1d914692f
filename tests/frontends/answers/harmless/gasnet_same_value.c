// nodes: 3
// Nodes 1 and 2 put 8 into one place.
#include <gasnet.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    gasnet_init(&argc, &argv);
    gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0);
    gasnet_node_t me = gasnet_mynode();
    gasnet_seginfo_t seg[8];
    gasnet_getSegmentInfo(seg, gasnet_nodes());
    int *mine = seg[me].addr;
    int eight = 8;
    if (me > 0)
        gasnet_put(0, seg[0].addr, &eight, sizeof(int));
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    if (me == 0)
        printf("%d\n", mine[0]);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
    return 0;
}
