// nodes: 2
// The rank that receives does not wait until the message is there.
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int got = 0;
    MPI_Request request;
    if (me == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else {
        MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
#ifdef REPAIRED
        MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    }
    MPI_Finalize();
    return 0;
}
