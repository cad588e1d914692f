// expect: robust
// nodes: 2
// races: none
// A barrier completes the puts of the default context before anybody goes on.
#include <shmem.h>
#include <stdio.h>

static double x;

int main(void)
{
    double value = 3.5;

    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_double_put(&x, &value, 1, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%f\n", x);
    shmem_finalize();
    return 0;
}
