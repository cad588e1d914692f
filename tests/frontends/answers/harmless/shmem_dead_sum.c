// nodes: 2
// What is read goes into a sum that nobody looks at.
#include <shmem.h>
#include <stdio.h>

static int value;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), sum = 0;
    if (me == 0)
        shmem_int_p(&value, 5, 1);
    else
        for (int i = 0; i < 2; i++)
            sum += 2 * shmem_int_g(&value, 1);
    shmem_barrier_all();
    printf("%d\n", value);
    shmem_finalize();
    return 0;
}
