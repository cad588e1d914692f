// expect: robust
// nodes: 2
// synchronised: yes
// args: 4
// Ranks draw chunks of tasks from a counter at the last rank. Where a task is done its result is put to rank 0, which
// adds them up.
#include <assert.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_TASKS 16
#define CHUNK 2

static long ticket;
static double result[MOST_TASKS];
static int done_by[MOST_TASKS];

static double work(long task)
{
    double sum = 0.0;

    for (long i = 1; i <= task + 1; i++)
        sum += (double) i;
    return sum;
}

int main(int argc, char *argv[])
{
    long tasks = MOST_TASKS, first, mine = 0;

    shmem_init();
    const int me = shmem_my_pe(), size = shmem_n_pes(), server = size - 1;

    if (argc == 2)
        tasks = strtol(argv[1], NULL, 10);
    if (argc > 2 || tasks < 1 || tasks > MOST_TASKS) {
        if (me == 0)
            fprintf(stderr, "usage: %s [tasks, at most %d]\n", argv[0], MOST_TASKS);
        shmem_finalize();
        return EXIT_FAILURE;
    }
    while ((first = shmem_long_atomic_fetch_add(&ticket, CHUNK, server)) < tasks) {
        long last = first + CHUNK < tasks ? first + CHUNK : tasks;
        for (long task = first; task < last; task++) {
            double value = work(task);
            shmem_double_put_nbi(&result[task], &value, 1, 0);
            shmem_int_p(&done_by[task], me + 1, 0);
            shmem_quiet();      /* value is another one in the next turn */
            mine++;
        }
    }
    shmem_barrier_all();
    if (me == 0) {
        double total = 0.0;
        for (long task = 0; task < tasks; task++) {
            assert(done_by[task] > 0 && result[task] == (task + 1) * (task + 2) / 2);
            total += result[task];
        }
        printf("%ld tasks, sum %g, %ld of them here\n", tasks, total, mine);
    }
    shmem_finalize();
    return EXIT_SUCCESS;
}
