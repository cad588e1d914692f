// expect: robust
// nodes: 4
// races: none
// A bucket sort: every PE draws 64 keys, puts those of each range into the inbox that the PE of that range has for it,
// and their number. After the all-to-all it sorts what has come, and the PEs compare their ends with their neighbours'.
// A barrier completes puts: put -> barrier -> load, and the largest keys are put before the next barrier.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KEYS
#define KEYS 64
#endif
#define LARGEST 4096
#define MOST_PES 64

/* Symmetric: of each PE what it has put here, and how many keys that is. */
static int inbox[MOST_PES][KEYS];
static int arrived[MOST_PES];
static int left_end = -1;

static int buckets[MOST_PES][KEYS];
static int filled[MOST_PES];

static uint32_t next_key(uint32_t *state)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % LARGEST;
}

static void fill_buckets(int me, int n)
{
    uint32_t state = 42u + 1000u * (uint32_t) me;

    for (int k = 0; k < KEYS; k++) {
        const int key = (int) next_key(&state);
        const int bucket = key * n / LARGEST;
        buckets[bucket][filled[bucket]++] = key;
    }
}

static void exchange(int me, int n)
{
    for (int i = 0; i < n; i++) {
        const int to = (me + i) % n;
        if (filled[to] > 0)
            shmem_int_put_nbi(inbox[me], buckets[to], filled[to], to);
        shmem_int_p(&arrived[me], filled[to], to);
    }
    shmem_barrier_all();
}

/* Counts how often each key has come; returns the largest, `none` if there is none. */
static int count_keys(int me, int n, int counts[], int none)
{
    const int low = me * LARGEST / n;
    int largest = none;

    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < arrived[pe]; i++) {
            const int key = inbox[pe][i];
            counts[key - low]++;
            if (key > largest)
                largest = key;
        }
    return largest;
}

int main(void)
{
    static int counts[LARGEST];
    int me, n, largest, in_order;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    if (n > MOST_PES)
        shmem_global_exit(EXIT_FAILURE);
    shmem_barrier_all();
    fill_buckets(me, n);
    exchange(me, n);
    largest = count_keys(me, n, counts, me * LARGEST / n - 1);
    if (me < n - 1)
        shmem_int_p(&left_end, largest, me + 1);
    shmem_barrier_all();
    in_order = left_end < me * LARGEST / n;
    printf("PE %d: %s\n", me, in_order ? "in order" : "not in order");
    shmem_finalize();
    return 0;
}
