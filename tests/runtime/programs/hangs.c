/* Each rank and a child of it hang for ever, and do not listen to SIGTERM if there is an argument. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 1) signal(SIGTERM, SIG_IGN);
    MPI_Init(&argc, &argv);
    int me, other;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (!fork())
        for (;;) pause();
    fprintf(stderr, "hangs\n");
    if (me == 0) MPI_Recv(&other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) pause();
}
