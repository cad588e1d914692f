// expect: not robust
// nodes: 2
// races: 1 pair
// A blocking put has left when it returns, and need not have arrived: the barrier's arrival may be seen before the data.
#include <shmem.h>
#include <stdio.h>

static double x;

int main(void)
{
    double value = 3.5;

    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_double_put(&x, &value, 1, 1);
    shmem_sync_all();
    if (shmem_my_pe() == 1)
        printf("%f\n", x);
    shmem_finalize();
    return 0;
}
