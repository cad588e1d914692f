// expect: robust
// nodes: 3
// races: none
// unified: defined
// separate: defined
// Figure 13 of Hoefler et al., 2014: the transpose of a Fourier transform. A plane is put as soon as it is computed, and
// a fence ends the epoch before the last dimension.
#include <mpi.h>
#include <stdio.h>

#define RANKS 3

int main(int argc, char **argv)
{
    int rank;
    int planes[RANKS], transposed[RANKS] = {0};
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(transposed, sizeof transposed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int plane = 0; plane < RANKS; plane++) {
        planes[plane] = 10 * rank + plane; /* the transform in two dimensions */
        MPI_Put(&planes[plane], 1, MPI_INT, plane, rank, 1, MPI_INT, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int plane = 0; plane < RANKS; plane++)
        printf("%d\n", transposed[plane]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
