// expect: not robust
// nodes: 2
// races: 1 pair
// The elements of one put arrive in any order, so the last one tells nothing of the first: load -> put of the first
// element by the conflict, put -> put of the last -> wait -> load.
#include <assert.h>
#include <shmem.h>

static int data[2];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int source[2] = {7, 8};
        shmem_int_put(data, source, 2, 1);
    } else {
        shmem_int_wait_until(&data[1], SHMEM_CMP_EQ, 8);
        assert(data[0] == 7);
    }
    shmem_finalize();
    return 0;
}
