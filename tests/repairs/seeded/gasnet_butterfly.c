// nodes: 4
// A sum that all have at the end: in each round the ranks exchange partial sums with a partner.
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>

#define SAFE(call)                                                            \
    do {                                                                      \
        int status = (call);                                                  \
        if (status != GASNET_OK) {                                            \
            fprintf(stderr, "%s: %s\n", #call, gasnet_ErrorDesc(status));     \
            gasnet_exit(1);                                                   \
        }                                                                     \
    } while (0)

static gasnet_seginfo_t segments[64];

static int *inbox(gasnet_node_t node, int round)
{
    return (int *) segments[node].addr + round;
}

static void meet(void)
{
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

static int all_sum(int mine)
{
    const gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes();

    for (int round = 0, bit = 1; bit < nodes; round++, bit *= 2) {
        const gasnet_node_t partner = me ^ bit;
        gasnet_handle_t sent = gasnet_put_nb(partner, inbox(partner, round), &mine, sizeof mine);
        gasnet_wait_syncnb(sent); // seeded (completion, 1 loop): meet();
        meet(); // seeded: gasnet_wait_syncnb(sent);
        mine += *inbox(me, round);
    }
    return mine;
}

int main(int argc, char **argv)
{
    SAFE(gasnet_init(&argc, &argv));
    SAFE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0));
    SAFE(gasnet_getSegmentInfo(segments, gasnet_nodes()));
    printf("%d\n", all_sum(gasnet_mynode() + 1));
    meet();
    gasnet_exit(0);
    return 0;
}
