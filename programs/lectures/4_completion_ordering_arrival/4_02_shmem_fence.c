// expect: not robust
// nodes: 2
// races: 1 pair
// A fence orders puts and completes none; the barrier of shmem_sync_all completes none either: load -> put -> fence ->
// sync -> load.
#include <assert.h>
#include <shmem.h>

static int y;

int main(void)
{
    int x = 7;

    shmem_init();
    shmem_int_put_nbi(&y, &x, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_fence();
    shmem_sync_all();
    assert(y == 7);
    shmem_finalize();
    return 0;
}
