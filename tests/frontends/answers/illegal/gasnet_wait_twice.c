// nodes: 2
// The handle has been waited for already.
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
    int value = 2;
    if (me == 1) {
        gasnet_handle_t handle = gasnet_put_nb(0, seg[0].addr, &value, sizeof(int));
        gasnet_wait_syncnb(handle);
#ifndef REPAIRED
        gasnet_wait_syncnb(handle);
#endif
    }
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
    return 0;
}
