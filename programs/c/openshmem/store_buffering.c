// expect: not robust
// nodes: 2
// races: 1 pair
// Both PEs may read 0: each put may arrive after the other PE has looked.
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
        printf("%d\n", mine);
    }
    shmem_finalize();
    return 0;
}
