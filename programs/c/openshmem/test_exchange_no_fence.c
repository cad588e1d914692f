// expect: not robust
// nodes: 2
// races: 1 pair
// As test_exchange without the fence: the flag may overtake the item, and the test succeeds before it has arrived.
// load -> put -> put of the flag -> test -> load.
#include <shmem.h>
#include <stdio.h>

static int data, flag;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    int peer = (me + 1) % npes;
    shmem_int_p(&data, 10 + me, peer);
    shmem_int_p(&flag, 1, peer);
    while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1))
        ;
    printf("%d: %d\n", me, data);
    shmem_finalize();
    return 0;
}
