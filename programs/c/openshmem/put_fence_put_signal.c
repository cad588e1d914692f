// expect: robust
// nodes: 2
// races: none
// A fence delivers the first put before the payload of the second and its signal.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long header;
static long body[2];
static uint64_t arrived;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        long one = 1, two[2] = {2, 3};
        shmem_long_put(&header, &one, 1, 1);
        shmem_fence();
        shmem_long_put_signal(body, two, 2, &arrived, 1, SHMEM_SIGNAL_SET, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%ld %ld\n", header, body[1]);
    }
    shmem_finalize();
    return 0;
}
