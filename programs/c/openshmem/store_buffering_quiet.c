// expect: robust
// nodes: 2
// races: 1 pair
// synchronised: no (race)
// Each put has arrived before its PE looks, so at least one of them reads 1.
#include <shmem.h>
#include <stdio.h>

static int mine;

int main(void)
{
    int other;

    shmem_init();
    other = 1 - shmem_my_pe();
    if (shmem_my_pe() < 2) {
        shmem_int_p(&mine, 1, other);
        shmem_quiet();
        printf("%d\n", mine);
    }
    shmem_finalize();
    return 0;
}
