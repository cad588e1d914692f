// expect: robust
// nodes: 3
// races: none
// PE 0 takes what comes first; each slot is a flag and a value behind a fence.
#include <shmem.h>
#include <stdio.h>

static int value[2];
static int flag[2];

int main(void)
{
    int me, status[2] = {0, 0};

    shmem_init();
    me = shmem_my_pe();
    if (me > 0) {
        shmem_int_p(&value[me - 1], me, 0);
        shmem_fence();
        shmem_int_p(&flag[me - 1], 1, 0);
    } else {
        for (int i = 0; i < 2; i++) {
            size_t found = shmem_int_wait_until_any(flag, 2, status, SHMEM_CMP_EQ, 1);
            printf("%d\n", value[found]);
            status[found] = 1;
        }
    }
    shmem_finalize();
    return 0;
}
