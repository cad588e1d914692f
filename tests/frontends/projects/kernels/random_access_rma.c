// expect: robust
// nodes: 2
// synchronised: yes
// args: 1 2
// Random access with MPI: the words of a table that is spread over the ranks are updated by accumulate with xor, in a
// lock of all ranks that is open all the time.
#include <assert.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t following(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return *state >> 8;
}

static void update(MPI_Win window, int rank, int size, int words, int updates)
{
    uint32_t state = 17 * rank + 5;

    for (int i = 0; i < updates; i++) {
        uint64_t value = following(&state);
        int at = (int) (value % (uint64_t) (words * size));
        MPI_Accumulate(&value, 1, MPI_UINT64_T, at / words, at % words, 1, MPI_UINT64_T, MPI_BXOR, window);
        MPI_Win_flush_local(at / words, window);
    }
}

int main(int argc, char **argv)
{
    int rank, size, words = 1 << 10, updates = 1 << 12;
    int wrong = 0, all_wrong;
    uint64_t *table;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        words = (int) strtol(argv[1], NULL, 0);
    if (argc > 2)
        updates = (int) strtol(argv[2], NULL, 0);
    if (argc > 3 || words < 1 || updates < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: %s [words of a rank [updates of a rank]]\n", argv[0]);
        MPI_Finalize();
        return EXIT_FAILURE;
    }

    MPI_Win_allocate(words * (MPI_Aint) sizeof *table, sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 0; i < words; i++)
        table[i] = rank * words + i;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 2; round++) {       /* the second one takes back what the first one did */
        update(window, rank, size, words, updates);
        MPI_Win_flush_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_sync(window);
    for (int i = 0; i < words; i++)
        if (table[i] != (uint64_t) (rank * words + i))
            wrong++;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(all_wrong == 0);
    if (rank == 0)
        printf("%d updates, %d words wrong\n", updates * size, all_wrong);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
