// nodes: 3
// Cannon's way with the blocks of a matrix: every step the block goes on to the left, into the other of two buffers.
#include <mpi.h>
#include <stdio.h>

#define STEPS 2
#define BLOCK 2

struct ring {
    int rank, size;
    double *block; /* two of BLOCK elements */
    MPI_Win win;
};

static void create(struct ring *ring)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &ring->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring->size);
    MPI_Win_allocate(2 * BLOCK * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &ring->block,
                     &ring->win);
    for (int i = 0; i < BLOCK; i++)
        ring->block[i] = 10.0 * ring->rank + i;
    MPI_Win_lock_all(0, ring->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shift(struct ring *ring, int from, int to)
{
    const int left = (ring->rank + ring->size - 1) % ring->size;

    MPI_Put(ring->block + from * BLOCK, BLOCK, MPI_DOUBLE, left, to * BLOCK, BLOCK, MPI_DOUBLE, ring->win);
    MPI_Win_flush(left, ring->win); // seeded (completion, 1 loop): MPI_Win_flush_local(left, ring->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct ring ring;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    create(&ring);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BLOCK; i++)
            sum += ring.block[step % 2 * BLOCK + i];
        shift(&ring, step % 2, 1 - step % 2);
    }
    printf("%d: %g\n", ring.rank, sum);
    MPI_Win_unlock_all(ring.win);
    MPI_Win_free(&ring.win);
    MPI_Finalize();
    return 0;
}
