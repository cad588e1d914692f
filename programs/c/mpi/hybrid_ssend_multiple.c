// expect: robust
// nodes: 2
// races: none
// With MPI_THREAD_MULTIPLE one thread waits in a send while the other one receives.
#include <mpi.h>
#include <omp.h>

int x;

int main(int argc, char **argv)
{
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            MPI_Ssend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return x;
}
