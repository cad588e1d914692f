// nodes: 2
// Operations of an access region belong to its handle, and are synchronised as implicit ones.
#include <gasnet.h>

int main(int argc, char **argv)
{
    gasnet_init(&argc, &argv);
    gasnet_attach(NULL, 0, 65536, 0);
    gasnet_seginfo_t segments[8];
    int me = gasnet_mynode(), value = 1;
    gasnet_getSegmentInfo(segments, gasnet_nodes());
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi(1 - me, segments[1 - me].addr, &value, sizeof(int));
#ifndef REPAIRED
    gasnet_wait_syncnbi_all();
#endif
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
}
