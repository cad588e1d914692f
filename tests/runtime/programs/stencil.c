/* A heat equation on rows, with a halo exchange between neighbours after each step. Usage: stencil ROWS COLUMNS STEPS.
 * Rank 0 prints the seconds of the steps and a checksum. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static long arrived[2];
static double sum, total, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sync_array[SHMEM_REDUCE_SYNC_SIZE];

static double now(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec + 1e-6 * t.tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    int rows = atoi(argv[1]), columns = atoi(argv[2]), steps = atoi(argv[3]);
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), up = me - 1, down = me + 1;
    size_t cells = (size_t)(rows + 2) * columns;
    double *old = shmem_calloc(cells, sizeof *old), *new = shmem_calloc(cells, sizeof *new);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync_array[i] = SHMEM_SYNC_VALUE;
    for (int j = 0; j < columns; j++) old[columns + j] = new[columns + j] = me == 0 ? 100.0 : 0.0;
    shmem_barrier_all();
    double start = now();
    for (long step = 1; step <= steps; step++) {
        if (up >= 0) {
            shmem_double_put_nbi(old + (size_t)(rows + 1) * columns, old + columns, columns, up);
            shmem_fence();
            shmem_long_atomic_set(&arrived[1], step, up);
        }
        if (down < n) {
            shmem_double_put_nbi(old, old + (size_t)rows * columns, columns, down);
            shmem_fence();
            shmem_long_atomic_set(&arrived[0], step, down);
        }
        if (up >= 0) shmem_long_wait_until(&arrived[0], SHMEM_CMP_GE, step);
        if (down < n) shmem_long_wait_until(&arrived[1], SHMEM_CMP_GE, step);
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < columns - 1; j++) {
                size_t at = (size_t)i * columns + j;
                new[at] = 0.25 * (old[at - 1] + old[at + 1] + old[at - columns] + old[at + columns]);
            }
        double *swap = old;
        old = new;
        new = swap;
        shmem_barrier_all();
    }
    double seconds = now() - start;
    for (size_t i = columns; i < cells - columns; i++) sum += old[i];
    shmem_double_sum_to_all(&total, &sum, 1, 0, 0, n, work, sync_array);
    if (me == 0) printf("%.6f seconds, sum %.10g\n", seconds, total);
    shmem_finalize();
    return 0;
}
