// expect: not robust
// nodes: 2
// races: 2 pairs
// The lock is released while the put is under way.
#include <assert.h>
#include <mpi.h>

enum { LOCK, TOTAL, CELLS };

int main(int argc, char **argv)
{
    int rank, size, *mem, value, old, zero = 0, one = 1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    mem[LOCK] = mem[TOTAL] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    do {
        MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, LOCK, win);
        MPI_Win_flush(0, win);
    } while (old != 0);
    MPI_Get(&value, 1, MPI_INT, 0, TOTAL, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    value = value + 1;
    MPI_Put(&value, 1, MPI_INT, 0, TOTAL, 1, MPI_INT, win);
    MPI_Accumulate(&zero, 1, MPI_INT, 0, LOCK, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        assert(mem[TOTAL] == size);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
