// expect: robust
// nodes: 2
// races: none
// shmem_barrier_all completes the puts of this PE before it arrives: put -> barrier -> load.
#include <assert.h>
#include <shmem.h>

static int y;

int main(void)
{
    int x = 7;

    shmem_init();
    shmem_int_put(&y, &x, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    assert(y == 7);
    shmem_finalize();
    return 0;
}
