// expect: robust
// nodes: 2
// races: 1 pair
// synchronised: no (race)
// A get and a store at the target, between post and wait (Schwitanski et al. 2022, Figure 4b).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, buf = 0, x = 0;
    MPI_Win win;
    MPI_Group world, other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Group_incl(world, 1, &(int){1}, &other);
        MPI_Win_start(other, 0, win);
        MPI_Get(&buf, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        printf("%d\n", buf);
    } else {
        MPI_Group_incl(world, 1, &(int){0}, &other);
        MPI_Win_post(other, 0, win);
        x = 1;
        MPI_Win_wait(win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
