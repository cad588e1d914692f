// expect: robust
// nodes: 3
// races: 1 pair
// PE 0 goes through the slots of the others and takes those that are full, until it has taken all: a test that fails
// decides nothing but that the next slot is tried. put -> fence -> put of the flag -> test -> load.
#include <shmem.h>
#include <stdio.h>

static int item[3], full[3];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    if (me > 0) {
        shmem_int_p(&item[me], 10 * me, 0);
        shmem_fence();
        shmem_int_p(&full[me], 1, 0);
    } else {
        int taken[3] = {1, 0, 0}, left = npes - 1;
        while (left > 0) {
            for (int pe = 1; pe < npes; pe++) {
                if (!taken[pe] && shmem_int_test(&full[pe], SHMEM_CMP_NE, 0)) {
                    printf("%d\n", item[pe]);
                    taken[pe] = 1;
                    left--;
                }
            }
        }
    }
    shmem_finalize();
    return 0;
}
