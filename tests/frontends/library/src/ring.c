#include <shmem.h>
#include "ring.h"

long inbox;
static int count; /* there is one of this name in total.c, too */

static void sent(int rank) {
    count += rank;
}

void ring_send(long value, int rank, int ranks) {
    static long outbox[1];
    outbox[0] = value;
    shmem_long_put_nbi(&inbox, outbox, 1, NEXT(rank, ranks));
    ring_complete();
    sent(rank);
}
