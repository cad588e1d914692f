// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Each PE puts an item with a signal to the other and fetches its own signal until it has come: put -> signal -> fetch ->
// load. Counted: fetch (PE 0) -> signal (PE 1) -> fetch (PE 1) -> signal (PE 0) -> fetch (PE 0).
#include <stdint.h>
#include <shmem.h>
#include <stdio.h>

static int item;
static uint64_t signal;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int peer = (me + 1) % npes, own = 10 + me;
    shmem_int_put_signal(&item, &own, 1, &signal, 1, SHMEM_SIGNAL_SET, peer);
    while (shmem_signal_fetch(&signal) == 0)
        ;
    printf("%d: %d\n", me, item);
    shmem_finalize();
    return 0;
}
