// nodes: 2
// The next block is on its way while one is worked on: two buffers with a request each take turns.
#include <mpi.h>
#include <stdio.h>

#define BLOCKS 3
#define BLOCK 2

static double work(const double *block)
{
    double sum = 0.0;
    for (int i = 0; i < BLOCK; i++)
        sum += block[i];
    return sum;
}

static void fetch(double *buffer, int block, int from, MPI_Win win, MPI_Request *request)
{
    MPI_Rget(buffer, BLOCK, MPI_DOUBLE, from, block * BLOCK, BLOCK, MPI_DOUBLE, win, request);
}

int main(int argc, char **argv)
{
    int rank, size;
    double *table, buffer[2][BLOCK], sum = 0.0;
    MPI_Win win;
    MPI_Request request[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(BLOCKS * BLOCK * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        table[i] = rank + 0.5 * i;
    MPI_Barrier(MPI_COMM_WORLD);

    const int from = (rank + 1) % size;
    MPI_Win_lock(MPI_LOCK_SHARED, from, 0, win);
    fetch(buffer[0], 0, from, win, &request[0]);
    for (int block = 0; block < BLOCKS; block++) {
        const int now = block % 2;
        if (block + 1 < BLOCKS)
            fetch(buffer[1 - now], block + 1, from, win, &request[1 - now]);
        MPI_Wait(&request[now], MPI_STATUS_IGNORE); // seeded (local completion, 1 loop): sum += work(buffer[now]);
        sum += work(buffer[now]); // seeded: MPI_Wait(&request[now], MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock(from, win);
    printf("%g\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
