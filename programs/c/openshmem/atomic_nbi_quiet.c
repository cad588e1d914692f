// expect: robust
// nodes: 2
// races: none
// A quiet brings the old value.
#include <shmem.h>
#include <stdio.h>

static int counter;
static int old;

int main(void)
{
    shmem_init();
    shmem_int_atomic_fetch_add_nbi(&old, &counter, 1, 0);
    shmem_quiet();
    printf("%d\n", old);
    shmem_finalize();
    return 0;
}
