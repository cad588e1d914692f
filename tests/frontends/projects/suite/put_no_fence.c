// expect: not robust
// nodes: 2
// synchronised: no (not robust)
// As put_fence, with a barrier where the second fence belongs: it completes nothing.
#include "harness.h"

int main(int argc, char **argv)
{
    int rank, size, errors = 0;
    struct window w = {0,};
    harness_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (harness_next_window(&w, 2)) {
        MPI_Win_fence(0, w.win);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w.win);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        errors += w.base[1] != w.base[0];
        MPI_Win_fence(0, w.win);
        harness_free(&w);
    }
    return harness_end(errors);
}
