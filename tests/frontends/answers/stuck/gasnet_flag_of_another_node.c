// nodes: 2
// Node 0 raises the flag in its own memory, and node 1 looks at its own one.
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
    int one = 1;
    if (me == 0)
#ifdef REPAIRED
        gasnet_put(1, seg[1].addr, &one, sizeof(int));
#else
        gasnet_put(0, seg[0].addr, &one, sizeof(int));
#endif
    if (me == 1)
        GASNET_BLOCKUNTIL(*(volatile int *)mine == 1);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
    return 0;
}
