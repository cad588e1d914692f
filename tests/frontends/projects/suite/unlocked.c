// expect: robust
// nodes: 2
// synchronised: no (race)
// Rank 0 stores to its window and rank 1 gets that, with nothing between.
#include "harness.h"

int main(int argc, char **argv)
{
    int rank, got = -1, errors = 0;
    struct window w = {0,};
    harness_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (harness_next_window(&w, 1)) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            w.base[0] = 5;
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
            MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win);
            MPI_Win_unlock(0, w.win);
            errors += got != 5;
        }
        harness_free(&w);
    }
    return harness_end(errors);
}
