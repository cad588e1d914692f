// expect: robust
// nodes: 3
// races: none
// Work is drawn from a counter at PE 0 and results are put to places of their own.
#include <shmem.h>
#include <stdio.h>

#define TASKS 4

static long counter;
static long result[TASKS];

int main(void)
{
    long task;

    shmem_init();
    while ((task = shmem_long_atomic_fetch_inc(&counter, 0)) < TASKS)
        shmem_long_p(&result[task], task * task, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        for (task = 0; task < TASKS; task++)
            printf("%ld\n", result[task]);
    shmem_finalize();
    return 0;
}
