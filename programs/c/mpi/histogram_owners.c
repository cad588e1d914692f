// expect: robust
// expect with all conflicts: not robust
// nodes: 4
// races: none
// A distributed histogram: 64 bins, spread over the ranks; every rank draws 100 keys and adds one to the bin of each, at
// the rank that has it. Sums that fetch nothing commute; all are complete at their targets before the barrier, and bins
// are read after it: accumulate -> flush_all -> barrier -> load. As conflicts: two ranks count in two bins in different
// orders.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KEYS
#define KEYS 100
#endif
#ifndef BINS
#define BINS 64
#endif
#define LARGEST 1000

static uint32_t next_key(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % LARGEST;
}

int main(int argc, char **argv)
{
    int rank, size, per_rank;
    int *counts;
    const int one = 1;
    long local = 0, total = 0;
    MPI_Win bins;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    per_rank = (BINS + size - 1) / size;
    MPI_Win_allocate(per_rank * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counts, &bins);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, bins);
    for (int i = 0; i < per_rank; i++)
        counts[i] = 0;
    MPI_Win_sync(bins);
    MPI_Barrier(MPI_COMM_WORLD);

    uint32_t state = 12345u + 17u * (uint32_t) rank;
    for (int k = 0; k < KEYS; k++) {
        const int bin = (int) (next_key(&state) * BINS / LARGEST);
        MPI_Accumulate(&one, 1, MPI_INT, bin / per_rank, bin % per_rank, 1, MPI_INT, MPI_SUM, bins);
    }
    MPI_Win_flush_all(bins);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_sync(bins);
    for (int i = 0; i < per_rank; i++)
        local += counts[i];
    MPI_Win_unlock_all(bins);
    MPI_Reduce(&local, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld of %d keys\n", total, KEYS * size);
    MPI_Win_free(&bins);
    MPI_Finalize();
    return 0;
}
