// nodes: 2
// A wait for a barrier that has not been begun.
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
#ifdef REPAIRED
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
#endif
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
    return 0;
}
