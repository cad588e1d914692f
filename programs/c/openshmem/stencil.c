// expect: robust
// nodes: 4
// races: none
// A 1-D heat stencil on a ring. Neighbours tell each other with signals that a halo cell is there (put, fence, put of
// the step number) and that it has been read (so that it may be overwritten); no barrier in the loop. At the end the
// PEs agree on the greatest change, and PE 0 gets and prints the field.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 3
#define STEPS 2
#define LEFT 0
#define RIGHT 1

typedef struct {
    int me;
    int n;
    int neighbour[2];
} ring_t;

/* Symmetric: the field with a halo cell at each end, and for each side the step that has arrived or been read. */
static long *field;
static long arrived[2];
static long consumed[2];
static long change, greatest;
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long psync[SHMEM_REDUCE_SYNC_SIZE];

static ring_t make_ring(void)
{
    ring_t ring;

    ring.me = shmem_my_pe();
    ring.n = shmem_n_pes();
    ring.neighbour[LEFT] = (ring.me + ring.n - 1) % ring.n;
    ring.neighbour[RIGHT] = (ring.me + 1) % ring.n;
    return ring;
}

static int opposite(int side)
{
    return side == LEFT ? RIGHT : LEFT;
}

static void initialise(const ring_t *ring)
{
    field = shmem_malloc((CELLS + 2) * sizeof(long));
    if (field == NULL)
        shmem_global_exit(EXIT_FAILURE);
    for (int i = 0; i < CELLS + 2; i++)
        field[i] = 0;
    if (ring->me == 0)
        field[1] = 1000;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}

/* Our edge cell on `side` becomes the halo cell on the opposite side of the neighbour there. */
static void send_edge(const ring_t *ring, int side, long step)
{
    int to = ring->neighbour[side];
    long *edge = side == LEFT ? &field[1] : &field[CELLS];
    long *halo = side == LEFT ? &field[CELLS + 1] : &field[0];

    if (step > 1)
        shmem_long_wait_until(&consumed[side], SHMEM_CMP_GE, step - 1);
    shmem_long_put(halo, edge, 1, to);
    shmem_fence();
    shmem_long_p(&arrived[opposite(side)], step, to);
}

static void acknowledge(const ring_t *ring, int side, long step)
{
    shmem_long_p(&consumed[opposite(side)], step, ring->neighbour[side]);
}

static long update(void)
{
    long before = field[0], most = 0;

    for (int i = 1; i <= CELLS; i++) {
        long old = field[i];
        long difference;

        field[i] = (before + 2 * old + field[i + 1]) / 4;
        difference = labs(field[i] - old);
        if (difference > most)
            most = difference;
        before = old;
    }
    return most;
}

static void print_all(const ring_t *ring)
{
    long line[CELLS];

    if (ring->me != 0)
        return;
    for (int pe = 0; pe < ring->n; pe++) {
        shmem_long_get(line, &field[1], CELLS, pe);
        for (int i = 0; i < CELLS; i++)
            printf("%ld ", line[i]);
    }
    printf("\nchange %ld\n", greatest);
}

int main(void)
{
    ring_t ring;

    shmem_init();
    ring = make_ring();
    initialise(&ring);
    for (long step = 1; step <= STEPS; step++) {
        send_edge(&ring, LEFT, step);
        send_edge(&ring, RIGHT, step);
        for (int side = LEFT; side <= RIGHT; side++)
            shmem_long_wait_until(&arrived[side], SHMEM_CMP_GE, step);
        change = update();
        acknowledge(&ring, LEFT, step);
        acknowledge(&ring, RIGHT, step);
    }
    shmem_barrier_all();
    shmem_long_max_to_all(&greatest, &change, 1, 0, 0, ring.n, work, psync);
    print_all(&ring);
    shmem_barrier_all();
    shmem_free(field);
    shmem_finalize();
    return 0;
}
