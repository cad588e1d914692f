// expect: robust
// nodes: 3
// races: 1 pair
// As test_any_take, with all slots that a test finds full at once. put -> fence -> put of the flag -> test -> load.
#include <shmem.h>
#include <stdio.h>

static int item[2], full[2];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int status[2] = {0, 0};
    if (me > 0) {
        shmem_int_p(&item[me - 1], 10 * me, 0);
        shmem_fence();
        shmem_int_p(&full[me - 1], 1, 0);
    } else {
        int left = npes - 1;
        while (left > 0) {
            size_t slots[2], found = shmem_int_test_some(full, 2, slots, status, SHMEM_CMP_EQ, 1);
            for (size_t i = 0; i < found; i++) {
                printf("%d\n", item[slots[i]]);
                status[slots[i]] = 1;
                left--;
            }
        }
    }
    shmem_finalize();
    return 0;
}
