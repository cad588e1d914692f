// Halo of a field in C with MPI: borders are put to both sides, and read behind a barrier that completes no put.
// expect: not robust
// MPI_Barrier completes no put; nothing else does before the borders are read.
// grows: lowering, shortening the run, its effect and the facts of SC runs take in all ranks.
// nodes: 2
#include <mpi.h>
#include <stdio.h>

#define WIDTH /*width*/2

int main(void) {
    int rank, size;
    int *cells;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((WIDTH + 2) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= WIDTH; i++) cells[i] = rank * WIDTH + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Put(&cells[1], 1, MPI_INT, (rank + size - 1) % size, WIDTH + 1, 1, MPI_INT, win);
    MPI_Put(&cells[WIDTH], 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", cells[0], cells[WIDTH + 1]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
