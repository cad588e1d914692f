// nodes: 2
// Node 1 puts into the memory of node 0, which looks at once.
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
    int value = 4;
    if (me == 1)
        gasnet_put(0, seg[0].addr, &value, sizeof(int));
#ifdef REPAIRED
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
#endif
    if (me == 0)
        printf("%d\n", mine[0]);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
    return 0;
}
