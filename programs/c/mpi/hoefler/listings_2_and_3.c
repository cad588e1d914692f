// expect: robust
// nodes: 2
// races: none
// illegal: mpi-sync-unlocked
// unified: defined
// separate: undefined
// Listings 2 and 3 of Hoefler et al., 2014: the MCS lock around a counter. The swap of the tail brings the predecessor's
// rank, so what that one did before is seen; the rest is told by messages. In the separate model the store to the own
// element may come together with a remote write of the tail, which is in the same window.
#include <assert.h>
#include <mpi.h>

enum { ELEM_DISP, TAIL_DISP, COUNTER, CELLS };
#define TAIL_RANK 0
#define MCS_MUTEX_TAG 7

static int rank, *base;
static MPI_Win window;

static void acquire(void)
{
    int prev;
    /* This store cannot occur concurrently with a remote write */
    base[ELEM_DISP] = MPI_PROC_NULL;
    MPI_Win_sync(window);
    MPI_Fetch_and_op(&rank, &prev, MPI_INT, TAIL_RANK, TAIL_DISP, MPI_REPLACE, window);
    MPI_Win_flush(TAIL_RANK, window);
    if (prev != MPI_PROC_NULL) {
        MPI_Accumulate(&rank, 1, MPI_INT, prev, ELEM_DISP, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_flush(prev, window);
        MPI_Recv(NULL, 0, MPI_BYTE, prev, MCS_MUTEX_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void release(void)
{
    int nil = MPI_PROC_NULL, tail, next;
    MPI_Fetch_and_op(NULL, &next, MPI_INT, rank, ELEM_DISP, MPI_NO_OP, window);
    MPI_Win_flush(rank, window);
    if (next == MPI_PROC_NULL) {
        MPI_Compare_and_swap(&nil, &rank, &tail, MPI_INT, TAIL_RANK, TAIL_DISP, window);
        MPI_Win_flush(TAIL_RANK, window);
        if (tail != rank) {
            for (;;) {
                MPI_Fetch_and_op(NULL, &next, MPI_INT, rank, ELEM_DISP, MPI_NO_OP, window);
                MPI_Win_flush(rank, window);
                if (next != MPI_PROC_NULL)
                    break;
            }
        }
    }
    if (next != MPI_PROC_NULL)
        MPI_Send(NULL, 0, MPI_BYTE, next, MCS_MUTEX_TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int size, value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    base[ELEM_DISP] = MPI_PROC_NULL;
    base[TAIL_DISP] = MPI_PROC_NULL;
    base[COUNTER] = 0;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    acquire();
    MPI_Get(&value, 1, MPI_INT, TAIL_RANK, COUNTER, 1, MPI_INT, window);
    MPI_Win_flush(TAIL_RANK, window);
    value++;
    MPI_Put(&value, 1, MPI_INT, TAIL_RANK, COUNTER, 1, MPI_INT, window);
    MPI_Win_flush(TAIL_RANK, window);
    release();
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    if (rank == TAIL_RANK)
        assert(base[COUNTER] == size);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
