// expect: robust
// nodes: 3
// races: none
// Signals that add count the producers, in whatever order they come.
#include <assert.h>
#include <shmem.h>
#include <stdint.h>

static int slots[3];
static uint64_t arrived;

int main(void)
{
    int me;

    shmem_init();
    me = shmem_my_pe();
    if (me != 0) {
        int value = me * 10;
        shmem_int_put_signal(&slots[me], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, shmem_n_pes() - 1);
        assert(slots[1] == 10 && slots[2] == 20);
    }
    shmem_finalize();
    return 0;
}
