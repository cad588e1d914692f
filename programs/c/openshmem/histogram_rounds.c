// expect: robust
// nodes: 3
// synchronised: yes
// races: none
// args: 4 2
// A histogram of a table that is spread over all ranks, with buffers that are exchanged in rounds, as conveyors do:
// indices for one rank are collected until its buffer is full; then all buffers are put, with the numbers of items, and
// emptied between two barriers. A reduction says whether some rank has more. The number of updates and a seed come from
// the command line.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_PES 8
#define CAPACITY 2
#define TABLE 4

static long inbox[MOST_PES][CAPACITY], arrived[MOST_PES]; /* by the sender */
static long more, any_more, psync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long table[TABLE];

struct conveyor {
    long items[MOST_PES][CAPACITY];
    long filled[MOST_PES];
};

static int push(struct conveyor *c, long index)
{
    int to = index / TABLE;

    if (c->filled[to] == CAPACITY)
        return 0;
    c->items[to][c->filled[to]++] = index % TABLE;
    return 1;
}

static void exchange(struct conveyor *c, int me, int npes)
{
    for (int step = 0; step < npes; step++) {
        int to = (me + step) % npes;
        if (c->filled[to])
            shmem_long_put(inbox[me], c->items[to], c->filled[to], to);
        shmem_long_p(&arrived[me], c->filled[to], to);
        c->filled[to] = 0;
    }
    shmem_barrier_all();
    for (int from = 0; from < npes; from++)
        for (int i = 0; i < arrived[from]; i++)
            table[inbox[from][i]]++;
}

int main(int argc, char **argv)
{
    struct conveyor c = {0};

    if (argc != 3) {
        fprintf(stderr, "usage: %s updates seed\n", argv[0]);
        return 1;
    }
    int updates = atoi(argv[1]), done = 0;
    unsigned long state = strtoul(argv[2], NULL, 0);

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    state += me;
    shmem_barrier_all();
    do {
        while (done < updates) {
            unsigned long next = state * 6364136223846793005UL + 1442695040888963407UL;
            if (!push(&c, (long)(next >> 33) % (TABLE * npes)))
                break;
            state = next;
            done++;
        }
        exchange(&c, me, npes);
        more = done < updates;
        shmem_long_max_to_all(&any_more, &more, 1, 0, 0, npes, work, psync);
        shmem_barrier_all();
    } while (any_more);
    for (int i = 0; i < TABLE; i++)
        printf("%d: %ld\n", me * TABLE + i, table[i]);
    shmem_finalize();
    return 0;
}
