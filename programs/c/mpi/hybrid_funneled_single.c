// expect: robust
// nodes: 2
// races: none
// synchronised: no (illegal)
// illegal: mpi-thread-off-main
// `single` lets any thread make the call, and MPI_THREAD_FUNNELED only the main one: `master` and a barrier would do.
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv)
{
    int provided, rank, sum = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum;
}
