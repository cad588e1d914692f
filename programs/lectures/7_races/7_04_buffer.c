// expect: not robust
// nodes: 2
// races: 1 pair
// The put may still have to read its source when the next value is written into it.
#include <shmem.h>

static long inbox[2];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    long value;
    if (me == 0)
        for (int round = 0; round < 2; round++) {
            value = 7 + round;
            shmem_long_put_nbi(&inbox[round], &value, 1, 1);
        }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
