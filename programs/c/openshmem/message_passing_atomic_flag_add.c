// expect: robust
// nodes: 2
// races: none
// Without a result the atomic is delivered like a put, and the fence orders it behind the data.
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
        shmem_long_atomic_add(&flag, 1, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
        assert(data == 42);
    }
    shmem_finalize();
    return 0;
}
