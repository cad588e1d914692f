// expect: robust
// nodes: 2
// races: none
// A fetching atomic has been made when it returns, so the two are made in program order.
#include <shmem.h>

static int count;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_atomic_fetch_inc(&count, 1);
        shmem_int_atomic_fetch_inc(&count, 1);
    }
    shmem_finalize();
    return 0;
}
