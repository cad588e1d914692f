// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// The flag is an atomic that is fetched until it is set: a loop of fetches of its own PE's memory, and a wait as well.
// put -> fence -> atomic set -> fetch -> load. Counted: fetch (PE 0) -> set (PE 1) -> fetch (PE 1) -> set (PE 0) -> fetch.
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
    shmem_int_atomic_set(&flag, 1, peer);
    while (shmem_int_atomic_fetch(&flag, me) == 0)
        ;
    printf("%d: %d\n", me, data);
    shmem_finalize();
    return 0;
}
