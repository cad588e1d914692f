// expect: robust
// nodes: 2
// races: none
// The target has stored before it sends, and the origin puts once it has received (Schwitanski et al. 2022, Figure 7).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, buf = 0, x = 0, token = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        buf = 42;
        MPI_Put(&buf, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    } else {
        x = 1;
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Win_fence(0, win);
    if (rank == 1)
        printf("%d\n", x);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
