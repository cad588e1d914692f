// expect: not robust
// nodes: 2
// races: 2 pairs
// As try_two without the fence: stop is seen and work is missed, which decides what is told to PE 0. test of work -> put
// of work -> put of stop -> test of stop -> test of work.
#include <sched.h>
#include <shmem.h>
#include <stdio.h>

static int work, stop, lost;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();

    if (me == 0) {
        shmem_int_p(&work, 1, 1);
        shmem_int_p(&stop, 1, 1);
    } else if (me == 1) {
        for (;;) {
            if (shmem_int_test(&stop, SHMEM_CMP_EQ, 1)) {
                int last = shmem_int_test(&work, SHMEM_CMP_EQ, 1);
                shmem_int_p(&lost, !last, 0);
                break;
            }
            if (shmem_int_test(&work, SHMEM_CMP_EQ, 1))
                break;
            sched_yield();
        }
    }
    shmem_finalize();
    return 0;
}
