// expect: robust
// nodes: 2
// races: 1 pair
// Store buffering repaired: the quiet completes the put before x is looked at.
#include <shmem.h>

static int x;

int main(void)
{
    int seen;

    shmem_init();
    shmem_int_p(&x, 1, 1 - shmem_my_pe());
    shmem_quiet();
    seen = shmem_int_g(&x, shmem_my_pe());
    shmem_finalize();
    return seen;
}
