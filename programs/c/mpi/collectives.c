// expect: robust
// nodes: 3
// races: none
// Values through collectives; nothing one-sided.
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, root = 0, sum = 0, all[3] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        root = 5;
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    assert(root == 5);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(sum == size * (size - 1) / 2);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    assert(all[1] == 1 && all[2] == 2);
    MPI_Finalize();
    return 0;
}
