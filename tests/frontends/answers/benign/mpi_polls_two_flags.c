// nodes: 2
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int me, *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = base[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (me == 1) {
        int one = 1, r;
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        (void)r;
    } else if (me == 0) {
        int have[2] = {0, 0}, none = 0;
        while (!have[0] || !have[1])
            for (int i = 0; i < 2; i++)
                if (!have[i]) {
                    int seen;
                    MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, i, MPI_NO_OP, win);
                    MPI_Win_flush(0, win);
                    if (seen == 1) have[i] = 1;
                }
        printf("both\n");
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
