// expect: robust
// nodes: 2
// synchronised: yes
// A matrix in blocks of columns is transposed: each phase sends a block to another rank, which adds it to its part.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TILES
#define TILES 2
#endif
#define A(row, column) a[(column) * order + (row)]
#define B(row, column) b[(column) * order + (row)]

int main(int argc, char **argv)
{
    int rank, size, iterations = 2, tiles = TILES;
    double error = 0.0, total = 0.0, start, *a, *b, *out, *in;
    MPI_Win window;
    MPI_Info info;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        iterations = atoi(argv[1]);
    if (argc > 2)
        tiles = atoi(argv[2]);
    if (iterations < 1 || tiles < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: %s [iterations] [tiles]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    const int block = tiles, order = block * size, first = rank * block;
    if (posix_memalign((void **) &a, 64, (size_t) order * block * sizeof(double)) != 0
        || posix_memalign((void **) &b, 64, (size_t) order * block * sizeof(double)) != 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    out = malloc((size_t) block * block * sizeof(double));
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate((MPI_Aint) size * block * block * sizeof(double), sizeof(double), info, MPI_COMM_WORLD, &in, &window);
    MPI_Info_free(&info);

    for (int j = 0; j < block; j++)
        for (int i = 0; i < order; i++) {
            A(i, j) = (double) (order * (first + j) + i);
            B(i, j) = 0.0;
        }
    start = MPI_Wtime();
    for (int iteration = 0; iteration < iterations; iteration++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        for (int phase = 0; phase < size; phase++) {
            int to = (rank + phase) % size;
            double *of = phase == 0 ? &in[rank * block * block] : out;
            for (int i = 0; i < block; i++)
                for (int j = 0; j < block; j++)
                    of[i * block + j] = A(to * block + i, j);
            if (phase != 0) {
                MPI_Put(out, block * block, MPI_DOUBLE, to, rank * block * block, block * block, MPI_DOUBLE, window);
                // the buffer is used again in the next phase
                MPI_Win_fence(0, window);
            }
        }
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        for (int of = 0; of < size; of++)
            for (int i = 0; i < block; i++)
                for (int j = 0; j < block; j++)
                    B(of * block + j, i) += in[(of * block + i) * block + j];
    }
    start = MPI_Wtime() - start;
    for (int j = 0; j < block; j++)
        for (int i = 0; i < order; i++)
            error += fabs(B(i, j) - (double) iterations * (order * i + first + j));
    MPI_Reduce(&error, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf(total < 1e-8 ? "correct, %g s\n" : "wrong by %g\n", total < 1e-8 ? start : total);
    MPI_Win_free(&window);
    free(out);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
