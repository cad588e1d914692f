// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Each PE puts a flag in its own memory and gets the other's until it is up. The variable that the gets go to is nobody
// else's, so a get that brings 0 changes nothing. Counted, each may get before the other's flag is up: get (PE 0) -> put
// (PE 1) -> get (PE 1) -> put (PE 0) -> get (PE 0).
#include <shmem.h>
#include <stdio.h>

static int flag;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int peer = (me + 1) % npes, seen;
    shmem_int_p(&flag, 1, me);
    do {
        shmem_int_get(&seen, &flag, 1, peer);
    } while (seen == 0);
    printf("%d goes on\n", me);
    shmem_finalize();
    return 0;
}
