// expect: robust
// nodes: 2
// races: none
// unified: eventual
// separate: undefined
// Figure 8 (d) of Hoefler et al., 2014 (rebuilt): the data is there before the flag is put.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    int mem[2] = {0, 0}, one = 1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    } else {
        while (mem[1] == 0)
            ;
        printf("%d\n", mem[0]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
