#ifndef RING_H
#define RING_H

#define NEXT(rank, ranks) (((rank) + 1) % (ranks))

extern long inbox;

/* Sends value to the next rank; it has arrived after ring_complete. */
void ring_send(long value, int rank, int ranks);

static inline void ring_complete(void) {
#ifdef WAITS
    shmem_quiet();
#else
    shmem_fence();
#endif
}

#endif
