// expect: not robust
// nodes: 3
// races: 1 pair
// As test_any_take without the fence: a slot may be found full before its item has arrived. load -> put -> put of the flag
// -> test -> load.
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
        shmem_int_p(&full[me - 1], 1, 0);
    } else {
        int left = npes - 1;
        while (left > 0) {
            size_t slot = shmem_int_test_any(full, 2, status, SHMEM_CMP_EQ, 1);
            if (slot != SIZE_MAX) {
                printf("%d\n", item[slot]);
                status[slot] = 1;
                left--;
            }
        }
    }
    shmem_finalize();
    return 0;
}
