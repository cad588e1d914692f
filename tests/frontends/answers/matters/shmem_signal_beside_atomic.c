// nodes: 3
// A count of arrivals to which one PE adds by a signal and the other one by an atomic, which need not exclude each other.
#include <shmem.h>
#include <stdio.h>

static uint64_t arrived;
static long data[3];
int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    long value = me;
    if (me == 1)
        shmem_long_put_signal(&data[1], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
    if (me == 2) {
#ifdef REPAIRED
        shmem_long_put_signal(&data[2], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
#else
        shmem_long_p(&data[2], value, 0);
        shmem_fence();
        shmem_uint64_atomic_add(&arrived, 1, 0);
#endif
    }
    if (me == 0) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 2);
        printf("%ld\n", data[1] + data[2]);
    }
    shmem_finalize();
    return 0;
}
