// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Each PE puts an item and a flag behind a fence, and tests its own flag until it is set. A test that fails changes
// nothing, so the loop is shmem_int_wait_until: put -> fence -> put of the flag -> test -> load. Counted, both may test too
// early: test (PE 0) -> put of its flag (PE 1) -> test (PE 1) -> put of its flag (PE 0) -> test (PE 0).
#include <shmem.h>
#include <stdio.h>

static int data, flag;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int peer = (me + 1) % npes;
    shmem_int_p(&data, 10 + me, peer);
    shmem_fence();
    shmem_int_p(&flag, 1, peer);
    while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1))
        ;
    printf("%d: %d\n", me, data);
    shmem_finalize();
    return 0;
}
