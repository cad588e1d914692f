// expect: not robust
// nodes: 2
// races: 1 pair
// The signal covers the data of its own call and no put before it: load of header -> put of header -> put_signal ->
// wait -> load of header.
#include <assert.h>
#include <shmem.h>
#include <stdint.h>

static int header, body[2];
static uint64_t sig;

int main(void)
{
    int source[2] = {7, 8};

    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&header, 2, 1);
        shmem_int_put_signal(body, source, 2, &sig, 1, SHMEM_SIGNAL_SET, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
        assert(body[0] + body[1] == 15 && header == 2);
    }
    shmem_finalize();
    return 0;
}
