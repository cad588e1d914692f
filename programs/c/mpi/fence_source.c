// expect: not robust
// nodes: 2
// races: 1 pair
// The origin buffer of a put belongs to MPI until the next fence; a store before it may be what is delivered.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, value, x = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        value = 1;
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        value = 2;
    }
    MPI_Win_fence(0, win);
    printf("%d\n", x);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
