// expect: robust
// nodes: 2
// races: 1 pair
// PE 1 tests for work and for the end until one of them is there, and for work once more at the end. A round in which
// both tests fail is a wait; all else that is seen counts. put of work -> fence -> put of stop -> test of stop -> test.
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
        shmem_fence();
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
