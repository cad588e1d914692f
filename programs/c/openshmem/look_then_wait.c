// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Each PE looks at its flag before it waits for it. A look that comes too early leads to the wait, where a later one leads
// past it to the same place. Counted: look (PE 0) -> put (PE 1) -> look (PE 1) -> put (PE 0) -> look (PE 0).
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
    if (flag == 0)
        shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0);
    printf("%d: %d\n", me, data);
    shmem_finalize();
    return 0;
}
