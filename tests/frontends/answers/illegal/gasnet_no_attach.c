// nodes: 2
// The segments are attached behind the first barrier.
#include <gasnet.h>

int main(int argc, char **argv)
{
    gasnet_init(&argc, &argv);
#ifdef REPAIRED
    gasnet_attach(NULL, 0, 65536, 0);
#endif
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
#ifndef REPAIRED
    gasnet_attach(NULL, 0, 65536, 0);
#endif
    gasnet_exit(0);
}
