// expect: robust
// nodes: 2
// synchronised: yes
// MPI and OpenMP: threads of a rank share out the rows, and the thread that is alone behind them exchanges the borders.
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#define ROWS 4
#define WIDTH 6
#ifndef STEPS
#define STEPS 2
#endif

static double grid[ROWS + 2][WIDTH], next[ROWS + 2][WIDTH];

static double sweep(void)
{
    double change = 0;
    int i, j;
#ifdef NO_PRIVATE
#pragma omp parallel for reduction(max : change)
#else
#pragma omp parallel for private(j) reduction(max : change) schedule(static)
#endif
    for (i = 1; i <= ROWS; i++)
        for (j = 1; j < WIDTH - 1; j++) {
            next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
            if (fabs(next[i][j] - grid[i][j]) > change)
                change = fabs(next[i][j] - grid[i][j]);
        }
#pragma omp parallel
    {
#pragma omp for collapse(2) private(j)
        for (i = 1; i <= ROWS; i++)
            for (j = 1; j < WIDTH - 1; j++)
#ifdef IN_PLACE
                grid[i][j] = grid[i - 1][j];
#else
                grid[i][j] = next[i][j];
#endif
#ifdef IN_A_REGION
#pragma omp master
        MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
    return change;
}

int main(int argc, char **argv)
{
    int level, me, size;
    MPI_Win win;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = me > 0 ? me - 1 : MPI_PROC_NULL, down = me < size - 1 ? me + 1 : MPI_PROC_NULL;
#pragma omp parallel for
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < WIDTH; j++)
            grid[i][j] = me * ROWS + i;
    MPI_Win_create(grid, sizeof grid, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int step = 0; step < STEPS; step++) {
        MPI_Put(grid[1], WIDTH, MPI_DOUBLE, up, (ROWS + 1) * WIDTH, WIDTH, MPI_DOUBLE, win);
        MPI_Put(grid[ROWS], WIDTH, MPI_DOUBLE, down, 0, WIDTH, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
        double change = sweep();
        if (me == 0)
            printf("%d threads: %g\n", omp_get_max_threads(), change);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
