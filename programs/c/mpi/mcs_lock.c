// expect: robust
// nodes: 2
// races: none
// The MCS lock over MPI-3 atomics: the tail at rank 0, in each rank its successor and whether it waits.
#include <assert.h>
#include <mpi.h>

enum { NEXT, WAITING, TAIL, TOTAL, CELLS };

static MPI_Win win;
static int *mem;
static int rank, size;

static int fetch(int target, int cell)
{
    int dummy = 0, value;
    MPI_Fetch_and_op(&dummy, &value, MPI_INT, target, cell, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    return value;
}

static void set(int target, int cell, int value)
{
    MPI_Accumulate(&value, 1, MPI_INT, target, cell, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(target, win);
}

static void acquire(void)
{
    int before;

    set(rank, NEXT, -1);
    set(rank, WAITING, 1);
    MPI_Fetch_and_op(&rank, &before, MPI_INT, 0, TAIL, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    if (before != -1) {
        set(before, NEXT, rank);
        while (fetch(rank, WAITING))
            ;
    }
}

static void release(void)
{
    int nobody = -1, old, next;

    MPI_Compare_and_swap(&nobody, &rank, &old, MPI_INT, 0, TAIL, win);
    MPI_Win_flush(0, win);
    if (old == rank)
        return;
    while ((next = fetch(rank, NEXT)) == -1)
        ;
    set(next, WAITING, 0);
}

int main(int argc, char **argv)
{
    int value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    mem[NEXT] = mem[TAIL] = -1;
    mem[WAITING] = mem[TOTAL] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    acquire();
    MPI_Get(&value, 1, MPI_INT, 0, TOTAL, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, 0, TOTAL, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    release();
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        assert(mem[TOTAL] == size);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
