// nodes: 3
// A block transpose: what another PE gets is packed into one buffer, which is packed again for the next.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 2

static long *columns; /* BLOCK elements of each PE */

static void pack(long *buffer, const long *row, int to)
{
    for (int i = 0; i < BLOCK; i++)
        buffer[i] = row[to * BLOCK + i];
}

static void transpose(const long *row)
{
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    long buffer[BLOCK];

    for (int shift = 0; shift < npes; shift++) {
        const int to = (me + shift) % npes;
        pack(buffer, row, to);
        shmem_long_put(&columns[me * BLOCK], buffer, BLOCK, to); // seeded (local completion, 1 loop): shmem_long_put_nbi(&columns[me * BLOCK], buffer, BLOCK, to);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    long *row = malloc(npes * BLOCK * sizeof *row);
    columns = shmem_malloc(npes * BLOCK * sizeof *columns);
    for (int i = 0; i < npes * BLOCK; i++)
        row[i] = 100 * me + i;

    transpose(row);

    long sum = 0;
    for (int i = 0; i < npes * BLOCK; i++)
        sum += columns[i];
    printf("%d: %ld\n", me, sum);
    free(row);
    shmem_free(columns);
    shmem_finalize();
    return 0;
}
