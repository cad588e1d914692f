// nodes: 2
#include <shmem.h>
/* flags hold the number of the round; a barrier between rounds */
static int ready[2];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int round = 1; round <= 2; round++) {
        if (me == 1) {
            shmem_int_p(&ready[0], round, 0);
            shmem_int_p(&ready[1], round, 0);
        } else {
            int a = 0, b = 0;
            while (!a || !b) {
                if (!b) b = shmem_int_test(&ready[1], SHMEM_CMP_EQ, round);
                if (!a) a = shmem_int_test(&ready[0], SHMEM_CMP_EQ, round);
            }
        }
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
