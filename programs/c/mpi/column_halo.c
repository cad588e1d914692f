// expect: robust
// nodes: 2
// races: none
// A column of a matrix goes to the neighbour as a vector type.
#include <mpi.h>
#include <stdio.h>

#define ROWS 3
#define COLUMNS 4

static double block[ROWS][COLUMNS];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Datatype column;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            block[i][j] = rank + 1;
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_create(block, sizeof block, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&block[0][COLUMNS - 2], 1, column, (rank + 1) % size, 0, 1, column, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < ROWS; i++)
        printf("%g\n", block[i][0]);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
