// expect: robust
// nodes: 3
// races: none
// Every rank puts one element of its row into every other's column; the fence completes them all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    double *row, *column;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    row = malloc(size * sizeof *row);
    for (int i = 0; i < size; i++)
        row[i] = rank * size + i;
    MPI_Win_allocate(size * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &column, &win);
    MPI_Win_fence(0, win);
    for (int target = 0; target < size; target++)
        MPI_Put(&row[target], 1, MPI_DOUBLE, target, rank, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < size; i++)
        printf("%g ", column[i]);
    printf("\n");
    MPI_Win_free(&win);
    free(row);
    MPI_Finalize();
    return 0;
}
