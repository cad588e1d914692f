// expect: not robust
// nodes: 2
// races: 1 pair
// As look_then_wait, but a PE that has had to wait tells the other: what the look has seen is known after it. look (PE 0)
// -> put (PE 1) -> look (PE 1) -> put (PE 0) -> look (PE 0).
#include <shmem.h>
#include <stdio.h>

static int flag, late;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int peer = (me + 1) % npes, waited = 0;
    shmem_int_p(&flag, 1, peer);
    if (flag == 0) {
        shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0);
        waited = 1;
    }
    shmem_int_p(&late, waited, peer);
    shmem_finalize();
    return 0;
}
