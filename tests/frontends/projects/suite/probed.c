// expect: robust
// nodes: 2
// synchronised: yes
// Rank 1 packs what it sends, and rank 0 looks for it and puts the sum where rank 1 reads it.
#include "harness.h"
#include <assert.h>

static void answer(struct window *w)
{
    int flag = 0, size, position = 0, parts[2], sum;
    char buffer[64];
    MPI_Status status;
    while (!flag)
        MPI_Iprobe(1, 7, MPI_COMM_WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_PACKED, &size);
    MPI_Recv(buffer, size, MPI_PACKED, status.MPI_SOURCE, 7, MPI_COMM_WORLD, &status);
    MPI_Unpack(buffer, size, &position, parts, 2, MPI_INT, MPI_COMM_WORLD);
    sum = parts[0] + parts[1];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
    MPI_Put(&sum, 1, MPI_INT, 1, 0, 1, MPI_INT, w->win);
    MPI_Win_unlock(1, w->win);
    MPI_Send(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD);
}

static int ask(struct window *w)
{
    int size, position = 0, parts[2] = {30, 12,};
    char buffer[64];
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &size);
    assert(size <= (int) sizeof buffer);
    MPI_Pack(parts, 2, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Send(buffer, position, MPI_PACKED, 0, 7, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int found;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win);
    found = w->base[0];
    MPI_Win_unlock(1, w->win);
    assert(found == 42);
    return found != 42;
}

int main(int argc, char **argv)
{
    int rank, errors = 0;
    struct window w = {0,};
    harness_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (harness_next_window(&w, 1)) {
        if (rank == 0)
            answer(&w);
        else
            errors = ask(&w);
        harness_free(&w);
    }
    return harness_end(errors);
}
