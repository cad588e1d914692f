/* Rank 0 fills the trace; then all make communicators and windows, on which the recorder has them agree. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win window, other;
    volatile long *a, *b;
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &window);
    for (int i = 0; me == 0 && i < 100000; i++) a[i % 10] = i;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, copy, &b, &other);
    MPI_Win_free(&other);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
