// expect: robust
// nodes: 2
// races: none
// synchronised: no (stuck)
// The sender has the critical region and waits for a receive, which waits for the critical region of its own rank.
#include <mpi.h>
#include <omp.h>

int x;

int main(int argc, char **argv)
{
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp critical(mpi)
            MPI_Ssend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
#pragma omp critical(mpi)
            MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return x;
}
