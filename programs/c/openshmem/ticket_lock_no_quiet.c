// expect: not robust
// nodes: 2
// races: 2 pairs
// The lock is given on while the put is under way: the next holder may read the old total.
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
    shmem_int_atomic_fetch_inc(&turn, 0);
    shmem_finalize();
    return 0;
}
