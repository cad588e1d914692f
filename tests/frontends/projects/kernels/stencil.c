// expect: robust
// nodes: 2
// synchronised: yes
// A star stencil on strips of rows. A border row arrives with a signal; two sets of halos are used in turns, so that a
// rank that is ahead by one step does not overwrite what its neighbour has not read.
#include <math.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 3
#define ROWS 2
#ifndef STEPS
#define STEPS 3
#endif

static double halo[2][2][WIDTH];        /* step, from above or from below */
static uint64_t arrived[2][2];
static double error, errors, pwork[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long psync[SHMEM_REDUCE_SYNC_SIZE];

static void exchange(grid, me, size, step)
    double (*grid)[WIDTH];
    int me, size, step;
{
    int turn = step & 1;
    if (me > 0)
        shmemx_double_put_signal(halo[turn][1], grid[0], WIDTH, &arrived[turn][1], step / 2 + 1, SHMEM_SIGNAL_SET, me - 1);
    if (me < size - 1)
        shmemx_double_put_signal(halo[turn][0], grid[ROWS - 1], WIDTH, &arrived[turn][0], step / 2 + 1, SHMEM_SIGNAL_SET,
                                 me + 1);
    if (me > 0)
        shmem_signal_wait_until(&arrived[turn][0], SHMEM_CMP_GE, step / 2 + 1);
    if (me < size - 1)
        shmem_signal_wait_until(&arrived[turn][1], SHMEM_CMP_GE, step / 2 + 1);
}

int main(void)
{
    double (*grid)[WIDTH] = malloc(ROWS * sizeof *grid), (*next)[WIDTH] = malloc(ROWS * sizeof *next);
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    double start = shmemx_wtime();

    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++)
            grid[i][j] = me * ROWS + i;
    shmem_barrier_all();
    for (int step = 0; step < STEPS; step++) {
        exchange(grid, me, size, step);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < WIDTH; j++) {
                double *above = i > 0 ? grid[i - 1] : halo[step & 1][0], *below = i < ROWS - 1 ? grid[i + 1] : halo[step & 1][1];
                int edge = (me == 0 && i == 0) || (me == size - 1 && i == ROWS - 1);
                next[i][j] = edge ? grid[i][j] : 0.5 * (above[j] + below[j]);
            }
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < WIDTH; j++)
                grid[i][j] = next[i][j];
    }
    for (int i = 0; i < ROWS; i++)      /* a linear function stays as it is */
        error += fabs(grid[i][1] - (me * ROWS + i));
    shmem_double_sum_to_all(&errors, &error, 1, 0, 0, size, pwork, psync);
    if (me == 0)
        printf(errors < 1e-12 ? "correct, %g s\n" : "wrong by %g\n", errors < 1e-12 ? shmemx_wtime() - start : errors);
    free(grid);
    free(next);
    shmem_finalize();
    return errors < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
