// expect: robust
// nodes: 3
// races: none
// unified: defined
// separate: defined
// Figure 11 (right) of Hoefler et al., 2014: a stencil by post, start, complete and wait.
#include <mpi.h>
#include <stdio.h>

#define STEPS 2

int main(int argc, char **argv)
{
    int rank, size, left, right;
    int halo[2] = {0, 0}, inner[2] = {0, 0};
    int neighbours[2];
    MPI_Group world, group;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Win_create(halo, sizeof halo, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    neighbours[0] = left;
    neighbours[1] = right;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, neighbours, &group);
    for (int step = 0; step < STEPS; step++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        MPI_Put(&inner[0], 1, MPI_INT, left, 1, 1, MPI_INT, win);
        MPI_Put(&inner[1], 1, MPI_INT, right, 0, 1, MPI_INT, win);
        /* compute_inner would be here */
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        inner[0] = inner[0] + halo[0]; /* compute_outer */
        inner[1] = inner[1] + halo[1];
    }
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
