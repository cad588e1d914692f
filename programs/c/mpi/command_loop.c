// expect: robust
// synchronised: yes
// nodes: 2
// races: none
// Rank 0 draws commands and broadcasts them until it has drawn 0; all ranks do the same ones, puts to a neighbour, loads
// of what came, and gets from rank 0. How many there are is known to nobody, and all take the branches of one value. A
// flush completes the put at its target, and the barrier comes after it: put -> flush -> barrier -> load.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUIT, GIVE, SHOW, FETCH, COMMANDS };

int main(int argc, char **argv)
{
    int rank, size, command = QUIT, value = 0, *slot;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &slot, &win);
    *slot = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        if (rank == 0)
            command = rand() % COMMANDS;
        MPI_Bcast(&command, 1, MPI_INT, 0, MPI_COMM_WORLD);
        switch (command) {
        case GIVE:
            value = rank + 1;
            MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
            MPI_Win_flush((rank + 1) % size, win);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case SHOW:
            printf("%d\n", *slot);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case FETCH:
            MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_flush(0, win);
            printf("%d\n", value);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        }
    } while (command != QUIT);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
