// expect: robust
// nodes: 2
// races: none
// A fence between them keeps the signals in order.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int first, second;
static uint64_t count;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int value = 1;
        shmem_int_put_signal(&first, &value, 1, &count, 1, SHMEM_SIGNAL_SET, 1);
        shmem_fence();
        shmem_int_put_signal(&second, &value, 1, &count, 2, SHMEM_SIGNAL_SET, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_signal_wait_until(&count, SHMEM_CMP_GE, 2);
        printf("%d\n", first + second);
    }
    shmem_finalize();
    return 0;
}
