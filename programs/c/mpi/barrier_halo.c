// expect: not robust
// nodes: 4
// races: 2 pairs
// A barrier in place of the fence completes nothing: the halo cells may be old.
#include <mpi.h>
#include <stdio.h>

#define WIDTH 2

int main(int argc, char **argv)
{
    int rank, size, left, right;
    int field[WIDTH + 2] = {0};
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 1; i <= WIDTH; i++)
        field[i] = rank + 1;
    MPI_Win_create(field, sizeof field, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&field[1], 1, MPI_INT, left, WIDTH + 1, 1, MPI_INT, win);
    MPI_Put(&field[WIDTH], 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", field[0], field[WIDTH + 1]);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
