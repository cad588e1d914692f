// expect: robust
// nodes: 3
// races: none
// A work queue: indices are drawn from a counter at rank 0, results are put to places of their own.
#include <mpi.h>
#include <stdio.h>

#define TASKS 3

int main(int argc, char **argv)
{
    int rank, *mem, one = 1, task;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate((TASKS + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    for (int i = 0; i <= TASKS; i++)
        mem[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (task >= TASKS)
            break;
        MPI_Put(&task, 1, MPI_INT, 0, 1 + task, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 1; i <= TASKS; i++)
            printf("%d\n", mem[i]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
