// expect: robust
// expect with all conflicts: not robust
// nodes: 2
// races: none
// Atomics that fetch nothing may return before they are made, and may change places, which nobody can tell. As conflicts:
// add 2 -> add 1 -> add 2.
#include <shmem.h>

static int count;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_atomic_inc(&count, 1);
        shmem_int_atomic_inc(&count, 1);
    }
    shmem_finalize();
    return 0;
}
