// expect: robust
// nodes: 2
// synchronised: yes
// Every rank puts its number to its neighbour, in each kind of window.
#include "harness.h"

int main(int argc, char **argv)
{
    int rank, size, errors = 0;
    struct window w = {0,};
    harness_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (harness_next_window(&w, 2)) {
        MPI_Win_fence(0, w.win);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, w.win);
        MPI_Win_fence(0, w.win);
        errors += w.base[1] != (rank + size - 1) % size || w.base[0] != -1;
        harness_free(&w);
    }
    return harness_end(errors);
}
