// nodes: 2
#include <shmem.h>
/* waits for the second flag of a round and takes the first one for granted */
static int ready[2], bad;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int round = 1; round <= 2; round++) {
        if (me == 1) {
            shmem_int_p(&ready[0], round, 0);
            shmem_int_p(&ready[1], round, 0);
        } else {
            int b = 0;
            while (!b) b = shmem_int_test(&ready[1], SHMEM_CMP_EQ, round);
            if (ready[0] != round) bad = 1;
        }
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
