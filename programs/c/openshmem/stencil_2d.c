// expect: robust
// nodes: 4
// races: none
// A 2-D heat stencil on a grid of PEs, 100 steps, no barrier in the loop. Fields, halos and flags take turns by the
// parity of the step. Halo rows and packed columns travel by nonblocking puts; after a fence the step number follows
// into a flag. A halo is written again two steps later, when the neighbour's flag of the step between has come, which
// it sends after it has read the halo: put -> fence -> flag -> wait -> load -> fence -> flag -> wait -> put of the next
// but one step. The quiet at the end of a step frees the packed columns.
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STEPS
#define STEPS 100
#endif
#ifndef NX
#define NX 4
#endif
#ifndef NY
#define NY 4
#endif
#define ALPHA 0.125

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

typedef struct {
    int rows, columns;        /* of the grid of PEs */
    int row, column;          /* of this PE */
    int neighbour[SIDES];     /* -1: the edge of the domain */
} grid_t;

/* Symmetric. The halo of step s is halo[s % 2][side]; flag[s % 2][side] is s once it has arrived. */
static double halo[2][SIDES][NX > NY ? NX : NY];
static long flag[2][SIDES];
/* Columns are packed here, one buffer per side: puts read it until the quiet. */
static double packed[SIDES][NX > NY ? NX : NY];

static double work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long psync[SHMEM_REDUCE_SYNC_SIZE];

static enum side opposite(enum side side)
{
    switch (side) {
    case NORTH: return SOUTH;
    case SOUTH: return NORTH;
    case WEST: return EAST;
    default: return WEST;
    }
}

static grid_t make_grid(void)
{
    grid_t grid;
    int me = shmem_my_pe(), n = shmem_n_pes();

    grid.rows = 1;
    while (grid.rows * grid.rows < n)
        grid.rows *= 2;
    while (n % grid.rows != 0)
        grid.rows--;
    grid.columns = n / grid.rows;
    grid.row = me / grid.columns;
    grid.column = me % grid.columns;
    grid.neighbour[NORTH] = grid.row > 0 ? me - grid.columns : -1;
    grid.neighbour[SOUTH] = grid.row < grid.rows - 1 ? me + grid.columns : -1;
    grid.neighbour[WEST] = grid.column > 0 ? me - 1 : -1;
    grid.neighbour[EAST] = grid.column < grid.columns - 1 ? me + 1 : -1;
    return grid;
}

static int length(enum side side)
{
    return side == NORTH || side == SOUTH ? NY : NX;
}

static void pack(const double u[NX][NY], enum side side, double *to)
{
    switch (side) {
    case NORTH: for (int j = 0; j < NY; j++) to[j] = u[0][j]; break;
    case SOUTH: for (int j = 0; j < NY; j++) to[j] = u[NX - 1][j]; break;
    case WEST: for (int i = 0; i < NX; i++) to[i] = u[i][0]; break;
    default: for (int i = 0; i < NX; i++) to[i] = u[i][NY - 1]; break;
    }
}

static void send_halos(const grid_t *grid, const double u[NX][NY], long step)
{
    for (enum side side = NORTH; side < SIDES; side++) {
        int to = grid->neighbour[side];
        if (to < 0)
            continue;
        pack(u, side, packed[side]);
        shmem_double_put_nbi(halo[step % 2][opposite(side)], packed[side], length(side), to);
    }
    shmem_fence();
    for (enum side side = NORTH; side < SIDES; side++)
        if (grid->neighbour[side] >= 0)
            shmem_long_atomic_set(&flag[step % 2][opposite(side)], step, grid->neighbour[side]);
}

static void receive_halos(const grid_t *grid, long step)
{
    for (enum side side = NORTH; side < SIDES; side++)
        if (grid->neighbour[side] >= 0)
            shmem_long_wait_until(&flag[step % 2][side], SHMEM_CMP_GE, step);
}

/* The value at (i, j), which may lie in a halo. */
static double at(const double u[NX][NY], long step, int i, int j)
{
    if (i < 0)
        return halo[step % 2][NORTH][j];
    if (i >= NX)
        return halo[step % 2][SOUTH][j];
    if (j < 0)
        return halo[step % 2][WEST][i];
    if (j >= NY)
        return halo[step % 2][EAST][i];
    return u[i][j];
}

static double update(const double u[NX][NY], double v[NX][NY], long step)
{
    double change = 0.0;

    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            double around = at(u, step, i - 1, j) + at(u, step, i + 1, j) + at(u, step, i, j - 1) + at(u, step, i, j + 1);
            v[i][j] = u[i][j] + ALPHA * (around - 4.0 * u[i][j]);
            change = fmax(change, fabs(v[i][j] - u[i][j]));
        }
    return change;
}

int main(void)
{
    static double field[2][NX][NY];
    static double change, greatest;
    grid_t grid;

    shmem_init();
    grid = make_grid();
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++)
            field[0][i][j] = grid.row == 0 && i == 0 ? 100.0 : 0.0;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();

    for (long step = 1; step <= STEPS; step++) {
        const int now = (step - 1) % 2;
        send_halos(&grid, field[now], step);
        receive_halos(&grid, step);
        change = update(field[now], field[1 - now], step);
        shmem_quiet();
    }

    shmem_barrier_all();
    shmem_double_max_to_all(&greatest, &change, 1, 0, 0, shmem_n_pes(), work, psync);
    if (shmem_my_pe() == 0)
        printf("change after %d steps: %g\n", STEPS, greatest);
    shmem_finalize();
    return 0;
}
