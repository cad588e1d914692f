/* Two ranks put to random cells of each other, complete each put, and meet at a barrier after every so many. With SHARED
 * they put to cells of both, so that some puts race. Usage: puts ROUNDS PUTS CELLS [SHARED]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, rounds = atoi(argv[1]), each = atoi(argv[2]), cells = atoi(argv[3]), shared = argc > 4;
    unsigned seed;
    long *memory, one;
    MPI_Win win;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    seed = 17 + me;
    one = me;
    MPI_Win_allocate(cells * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    double begun = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < each; i++) {
            seed = seed * 1664525u + 1013904223u;
            int to = shared && seed >> 31 ? me : 1 - me;
            MPI_Put(&one, 1, MPI_LONG, to, (seed >> 8) % cells, 1, MPI_LONG, win);
            MPI_Win_flush(to, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!me) printf("%f seconds\n", MPI_Wtime() - begun);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
