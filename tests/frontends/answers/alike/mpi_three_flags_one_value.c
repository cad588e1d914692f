// nodes: 2
#include <mpi.h>
#include <stdio.h>
/* the value may come after the flags */
int main(int argc, char **argv) {
    int me, *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < 4; i++) base[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (me == 1) {
        int one = 1, seven = 7;
        (void)seven;
        MPI_Accumulate(&seven, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    } else {
        int none = 0, seen;
        int left = 3, done[3] = {0, 0, 0};
        while (left > 0)
            for (int i = 0; i < 3; i++)
                if (!done[i]) {
                    MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, i, MPI_NO_OP, win);
                    MPI_Win_flush(0, win);
                    if (seen == 1) {
                        done[i] = 1;
                        left--;
                    }
                }
        MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, 3, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        printf("%d\n", seen);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
