// expect: robust
// synchronised: yes
// races: none
// args: 3 8
// An integer sort: each rank makes keys, counts how many fall into the range of each rank, reserves room at that rank by
// a fetch-and-add, puts the keys there, and counts what has come after the barrier. The number of keys and their bound
// come from the command line.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_KEYS 16
#define MOST_PES 8
#define MOST_BOUND 64

static int received[MOST_KEYS * MOST_PES];
static long reserved;
static int occurrences[MOST_BOUND];
static long total, all_keys, psync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static unsigned int next_key(unsigned int *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

int main(int argc, char **argv)
{
    int keys[MOST_KEYS], buckets[MOST_PES][MOST_KEYS], counts[MOST_PES] = {0};
    int number, bound;

    if (argc < 3 || sscanf(argv[1], "%d", &number) != 1 || sscanf(argv[2], "%d", &bound) != 1) {
        fprintf(stderr, "usage: %s keys bound\n", argv[0]);
        return EXIT_FAILURE;
    }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (number > MOST_KEYS || npes > MOST_PES || bound > MOST_BOUND)
        shmem_global_exit(1);
    unsigned int state = me + 1;
    for (int i = 0; i < number; i++) {
        keys[i] = next_key(&state) % bound;
        int to = keys[i] * npes / bound;
        buckets[to][counts[to]++] = keys[i];
    }
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int step = 0; step < npes; step++) {
        int to = (me + step) % npes;
        if (counts[to] == 0)
            continue;
        long at = shmem_long_atomic_fetch_add(&reserved, counts[to], to);
        shmem_int_put(&received[at], buckets[to], counts[to], to);
    }
    shmem_barrier_all();
    total = reserved;
    for (int i = 0; i < total; i++)
        occurrences[received[i]]++;
    for (int key = 0; key < bound; key++)
        if (occurrences[key])
            printf("rank %d: %d times %d\n", me, occurrences[key], key);
    shmem_long_sum_to_all(&all_keys, &total, 1, 0, 0, npes, work, psync);
    if (me == 0 && all_keys != (long)number * npes)
        printf("%ld keys of %d\n", all_keys, number * npes);
    shmem_finalize();
    return 0;
}
