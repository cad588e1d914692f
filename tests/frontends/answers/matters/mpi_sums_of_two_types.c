// nodes: 2
// Both ranks add, but to one as MPI_INT and to the other as MPI_UNSIGNED: one addition may be lost, though their order
// makes no difference.
#include <mpi.h>
#include <stdio.h>

#ifdef REPAIRED
#define OTHER MPI_INT
#else
#define OTHER MPI_UNSIGNED
#endif

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    mine[0] = 0;
    MPI_Win_fence(0, win);
    int one = 1;
    if (me == 0)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    else
        MPI_Accumulate(&one, 1, OTHER, 0, 0, 1, OTHER, MPI_SUM, win);
    MPI_Win_fence(0, win);
    if (me == 0)
        printf("%d\n", mine[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
