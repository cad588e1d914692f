// expect: robust
// nodes: 2
// synchronised: yes
// races: none
// Between fences it is MPI_Put; the fence completes it.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, *shared, one = 1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 1)
        printf("%d\n", shared[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
