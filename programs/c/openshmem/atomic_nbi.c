// expect: not robust
// nodes: 2
// races: 1 pair
// The old value arrives some time before the next quiet, and is used before.
#include <shmem.h>
#include <stdio.h>

static int counter;
static int old;

int main(void)
{
    shmem_init();
    shmem_int_atomic_fetch_add_nbi(&old, &counter, 1, 0);
    printf("%d\n", old);
    shmem_finalize();
    return 0;
}
