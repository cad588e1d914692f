// expect: robust
// synchronised: yes
// nodes: 2
// races: none
// The exchange of a bucket sort in which ranks reserve room by fetch-and-add and put as many keys as they have for a
// bucket there in one call; their own they copy to the place that they have been given. Which places these are is known
// only in a run. The barrier completes the puts: put -> barrier -> load.
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#define KEYS 4
#define ROOM 16
#define MOST_PES 8

static long long receive_offset;
static int my_bucket_keys[ROOM];

int main(void)
{
    int keys[KEYS], sorted[KEYS], sizes[MOST_PES] = {0}, start[MOST_PES + 1] = {0}, filled[MOST_PES] = {0};

    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();

    for (int i = 0; i < KEYS; i++) {
        keys[i] = (me * 7 + i * 5) % (2 * n);
        sizes[keys[i] / 2]++;
    }
    for (int b = 0; b < n; b++)
        start[b + 1] = start[b] + sizes[b];
    for (int i = 0; i < KEYS; i++) {
        int b = keys[i] / 2;
        sorted[start[b] + filled[b]++] = keys[i];
    }
    shmem_barrier_all();

    long long place = shmem_longlong_atomic_fetch_add(&receive_offset, sizes[me], me);
    memcpy(&my_bucket_keys[place], &sorted[start[me]], sizes[me] * sizeof(int));
    for (int i = 1; i < n; i++) {
        int pe = (me + i) % n;

        place = shmem_longlong_atomic_fetch_add(&receive_offset, sizes[pe], pe);
        shmem_int_put(&my_bucket_keys[place], &sorted[start[pe]], sizes[pe], pe);
    }
    shmem_barrier_all();

    for (int i = 0; i < receive_offset; i++)
        printf("%d\n", my_bucket_keys[i]);
    shmem_finalize();
    return 0;
}
