// expect: robust
// nodes: 2
// races: none
// Payload and signal in one call.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int data[4];
static uint64_t arrived;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int source[4] = {1, 2, 3, 4};
        shmem_int_put_signal_nbi(data, source, 4, &arrived, 1, SHMEM_SIGNAL_SET, 1);
        shmem_quiet();
    } else if (shmem_my_pe() == 1) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0);
        printf("%d\n", data[0] + data[3]);
    }
    shmem_finalize();
    return 0;
}
