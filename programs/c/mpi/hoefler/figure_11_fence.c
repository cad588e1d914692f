// expect: not robust
// nodes: 3
// races: 2 pairs
// unified: undefined
// separate: undefined
// Figure 11 (left) of Hoefler et al., 2014: a stencil by fences. The halo is the window.
#include <mpi.h>
#include <stdio.h>

#define STEPS 2

int main(int argc, char **argv)
{
    int rank, size, left, right;
    int halo[2] = {0, 0}, inner[2] = {0, 0};
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Win_create(halo, sizeof halo, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int step = 0; step < STEPS; step++) {
        MPI_Put(&inner[0], 1, MPI_INT, left, 1, 1, MPI_INT, win);
        MPI_Put(&inner[1], 1, MPI_INT, right, 0, 1, MPI_INT, win);
        /* compute_inner would be here */
        MPI_Win_fence(0, win);
        inner[0] = inner[0] + halo[0]; /* compute_outer */
        inner[1] = inner[1] + halo[1];
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
