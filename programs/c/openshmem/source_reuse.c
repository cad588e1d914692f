// expect: robust
// nodes: 2
// races: none
// A blocking put has read its source when it returns; the source may be used again.
#include <assert.h>
#include <shmem.h>

static int x;

int main(void)
{
    int value = 1;

    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_put(&x, &value, 1, 1);
        value = 2;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        assert(x == 1);
    shmem_finalize();
    return 0;
}
