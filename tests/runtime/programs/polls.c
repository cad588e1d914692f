/* Rank 0 polls until the message of rank 1 is there, which waits; so many failed polls are said on standard output. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, token = 3, flag = 0;
    long polls = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 1) {
        usleep(200000);
        MPI_Send(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        MPI_Irecv(&token, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
        while (!flag) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            polls++;
        }
        printf("%ld polls\n", polls);
    }
    MPI_Finalize();
    return 0;
}
