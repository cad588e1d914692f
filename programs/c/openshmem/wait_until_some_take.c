// expect: robust
// nodes: 3
// races: none
// As test_some_take, waiting until some slot is full. put -> fence -> put of the flag -> wait -> load.
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
            size_t slots[2], found = shmem_int_wait_until_some(full, 2, slots, status, SHMEM_CMP_EQ, 1);
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
