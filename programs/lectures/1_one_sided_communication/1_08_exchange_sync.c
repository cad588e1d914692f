// expect: not robust
// nodes: 2
// races: 1 pair
// shmem_sync_all is a barrier that completes nothing: load -> put -> sync -> load.
#include <assert.h>
#include <shmem.h>

static int y;

int main(void)
{
    int x = 7;

    shmem_init();
    shmem_int_put(&y, &x, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_sync_all();
    assert(y == 7);
    shmem_finalize();
    return 0;
}
