// nodes: 2
// Messages into the slots of a mailbox; what is there is announced by a counter that the receiver polls atomically.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES 2
#define CHECK(call)                                                        \
    do {                                                                   \
        int status = (call);                                               \
        if (status != MPI_SUCCESS) {                                       \
            fprintf(stderr, "%s:%d: error %d\n", __FILE__, __LINE__, status); \
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);                       \
        }                                                                  \
    } while (0)

enum { HEAD = 0, SLOTS = 1 };

static void produce(MPI_Win win, int consumer)
{
    const int one = 1;

    for (int i = 0; i < MESSAGES; i++) {
        int item = 10 * (i + 1);
        CHECK(MPI_Put(&item, 1, MPI_INT, consumer, SLOTS + i, 1, MPI_INT, win));
        CHECK(MPI_Win_flush(consumer, win)); // seeded (completion, 1 loop): remove
        CHECK(MPI_Accumulate(&one, 1, MPI_INT, consumer, HEAD, 1, MPI_INT, MPI_SUM, win));
        CHECK(MPI_Win_flush(consumer, win));
    }
}

static int consume(MPI_Win win, int me)
{
    int sum = 0;

    for (int i = 0; i < MESSAGES; i++) {
        int head = 0, item;
        do {
            CHECK(MPI_Fetch_and_op(NULL, &head, MPI_INT, me, HEAD, MPI_NO_OP, win));
            CHECK(MPI_Win_flush(me, win));
        } while (head <= i);
        CHECK(MPI_Get(&item, 1, MPI_INT, me, SLOTS + i, 1, MPI_INT, win));
        CHECK(MPI_Win_flush(me, win));
        sum += item;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, *box;
    MPI_Win win;

    CHECK(MPI_Init(&argc, &argv));
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(MPI_Win_allocate((1 + MESSAGES) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win));
    for (int i = 0; i < 1 + MESSAGES; i++)
        box[i] = 0;
    CHECK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    if (rank == 0)
        produce(win, 1);
    else if (rank == 1)
        printf("%d\n", consume(win, 1));
    CHECK(MPI_Win_unlock_all(win));
    CHECK(MPI_Win_free(&win));
    MPI_Finalize();
    return 0;
}
