// expect: robust
// nodes: 2
// races: 1 pair
// synchronised: no (race)
// `master` has no barrier at its end: a thread may read the halo cell before the master has received it.
#include <mpi.h>
#include <omp.h>

#define WIDTH 4

int u[WIDTH + 1], v[WIDTH];

int main(int argc, char **argv)
{
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WIDTH; i++)
        u[i] = 10 * rank + i;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        MPI_Sendrecv(&u[0], 1, MPI_INT, 1 - rank, 0, &u[WIDTH], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#pragma omp for
        for (int i = 0; i < WIDTH; i++)
            v[i] = u[i] + u[i + 1];
    }
    MPI_Finalize();
    return v[WIDTH - 1];
}
