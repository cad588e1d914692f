// expect: robust
// nodes: 2
// synchronised: yes
// Each rank has a queue of tasks under a lock. Who has done its own ones takes those of its neighbours, from the
// tail.
#include <assert.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TASKS
#define TASKS 2
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 1
#endif

typedef struct queue {
    int head, tail;
    int task[TASKS];
} queue_t;

static queue_t queue;
static long *locks;             /* of the queue of each rank */
static int done[TASKS];         /* how often each task of this rank was done, by whomever */

static bool take(int victim, int *task)
{
    long *lock = &locks[victim];
    bool found = false;
    queue_t seen;

    shmem_set_lock(lock);
    shmem_getmem(&seen, &queue, sizeof(int) * 2, victim);
    if (seen.head < seen.tail) {
        seen.tail--;
        *task = shmem_int_g(&queue.task[seen.tail], victim);
        shmem_int_p(&queue.tail, seen.tail, victim);
        shmem_quiet();
        found = true;
    }
    shmem_clear_lock(lock);
    return found;
}

int main(void)
{
    int task, stolen = 0;

    shmem_init();
    const int me = shmem_my_pe(), size = shmem_n_pes();

    locks = shmem_calloc(size, sizeof *locks);
    if (me == 0)                /* all the work is here */
        for (int i = 0; i < TASKS; i++) {
            queue.task[i] = i;
            queue.tail++;
        }
    shmem_barrier_all();
    for (int i = 0; i <= NEIGHBOURS && i < size; i++) {
        int victim = (me + i) % size;
        while (take(victim, &task)) {
            shmem_int_atomic_inc(&done[task], victim);
            stolen += victim != me;
        }
    }
    shmem_barrier_all();
    if (me == 0)
        for (int i = 0; i < TASKS; i++)
            assert(done[i] == 1);
    if (stolen > 0)
        printf("%d: %d tasks of others\n", me, stolen);
    shmem_free(locks);
    shmem_finalize();
    return EXIT_SUCCESS;
}
