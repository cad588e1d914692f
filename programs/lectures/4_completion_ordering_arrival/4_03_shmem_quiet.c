// expect: robust
// nodes: 2
// races: none
// shmem_quiet completes what this PE has put, shmem_sync_all tells the others: put -> quiet -> sync -> load.
#include <assert.h>
#include <shmem.h>

static int y;

int main(void)
{
    int x = 7;

    shmem_init();
    shmem_int_put_nbi(&y, &x, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_quiet();
    shmem_sync_all();
    assert(y == 7);
    shmem_finalize();
    return 0;
}
