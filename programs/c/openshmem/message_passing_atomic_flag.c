// expect: not robust
// nodes: 2
// races: 1 pair
// A blocking atomic acts at once, and a fence does not hold it back: the flag may be up before the data is there.
#include <assert.h>
#include <shmem.h>

static long data;
static long flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_long_p(&data, 42, 1);
        shmem_fence();
        shmem_long_atomic_fetch_add(&flag, 1, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
        assert(data == 42);
    }
    shmem_finalize();
    return 0;
}
