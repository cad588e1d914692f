// nodes: 3
// Edges go to the neighbours with a flag that counts the steps; two ghost cells on each side take turns.
#include <shmem.h>
#include <stdio.h>

#define CELLS 2
#define STEPS 2

enum side { LEFT, RIGHT };

static double ghost[2][2]; /* [step % 2][side] */
static int arrived[2];     /* by side: steps that are there */
static double field[CELLS];

static int me, npes;

/* Hand `value` to PE `to`, for which this PE is on `side`. */
static void send_edge(int to, enum side side, int step, double value)
{
    if (to < 0 || to >= npes)
        return;
    shmem_double_put(&ghost[step % 2][side], &value, 1, to);
    shmem_fence(); // seeded (order, 1 loop): remove
    shmem_int_p(&arrived[side], step + 1, to);
}

static double recv_edge(int from, enum side side, int step, double boundary)
{
    if (from < 0 || from >= npes)
        return boundary;
    shmem_int_wait_until(&arrived[side], SHMEM_CMP_GE, step + 1);
    return ghost[step % 2][side];
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 0; i < CELLS; i++)
        field[i] = me == 0 ? 100.0 : 0.0;

    for (int step = 0; step < STEPS; step++) {
        send_edge(me - 1, RIGHT, step, field[0]);
        send_edge(me + 1, LEFT, step, field[CELLS - 1]);
        const double left = recv_edge(me - 1, LEFT, step, field[0]);
        const double right = recv_edge(me + 1, RIGHT, step, field[CELLS - 1]);
        const double first = (left + field[1]) / 2.0;
        field[1] = (field[0] + right) / 2.0;
        field[0] = first;
    }
    printf("%d: %g %g\n", me, field[0], field[1]);
    shmem_finalize();
    return 0;
}
