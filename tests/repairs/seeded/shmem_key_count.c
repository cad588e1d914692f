// nodes: 3
// Keys are counted by their owners with atomics, and all meet before the counts are read and scattered.
#include <shmem.h>
#include <stdio.h>

#define KEYS 2
#define BUCKETS 2

static int count[BUCKETS];
static int total;

static int owner_of(int key, int npes)
{
    return key / BUCKETS % npes;
}

static void count_keys(const int *keys, int npes)
{
    for (int i = 0; i < KEYS; i++)
        shmem_int_atomic_inc(&count[keys[i] % BUCKETS], owner_of(keys[i], npes));
    shmem_barrier_all(); // seeded (completion): shmem_sync_all();
}

int main(void)
{
    int keys[KEYS];

    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int i = 0; i < KEYS; i++)
        keys[i] = (3 * me + 2 * i) % (npes * BUCKETS);

    count_keys(keys, npes);
    int mine = 0;
    for (int b = 0; b < BUCKETS; b++)
        mine += count[b];
    shmem_int_atomic_add(&total, mine, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d keys\n", total);
    shmem_finalize();
    return 0;
}
