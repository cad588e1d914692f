// expect: not robust
// nodes: 2
// races: 1 pair
// A nonblocking put may read its source as late as the next quiet, and deliver what has been stored there meanwhile.
#include <assert.h>
#include <shmem.h>

static int x;

int main(void)
{
    int value = 1;

    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_put_nbi(&x, &value, 1, 1);
        value = 2;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        assert(x == 1);
    shmem_finalize();
    return 0;
}
