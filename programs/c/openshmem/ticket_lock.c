// expect: robust
// nodes: 2
// races: none
// Tickets and turns are atomics at PE 0; the put of the critical section is complete before the lock is given on.
#include <shmem.h>

static int ticket, turn, total;

int main(void)
{
    int mine, value;

    shmem_init();
    mine = shmem_int_atomic_fetch_inc(&ticket, 0);
    while (shmem_int_atomic_fetch(&turn, 0) != mine)
        ;
    shmem_int_get(&value, &total, 1, 0);
    value = value + 1;
    shmem_int_put(&total, &value, 1, 0);
    shmem_quiet();
    shmem_int_atomic_fetch_inc(&turn, 0);
    shmem_finalize();
    return 0;
}
