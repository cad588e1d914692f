// expect: robust
// nodes: 3
// synchronised: yes
// A counter at rank 0 that all add to, of which each gets another value.
#include "harness.h"
#include <assert.h>

int main(int argc, char **argv)
{
    int rank, one = 1, got, errors = 0;
    struct window w = {0,};
    harness_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (harness_next_window(&w, 1)) {
        w.base[0] = 0;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, w.win);
        MPI_Win_unlock_all(w.win);
        assert(got >= 0 && got < 3);
        MPI_Barrier(MPI_COMM_WORLD);
        errors += rank == 0 && w.base[0] != 3;
        harness_free(&w);
    }
    return harness_end(errors);
}
