// expect: robust
// points: 3
// A quiet before the assignment, or a blocking put.
#include <shmem.h>

static int y, z;

int main(void)
{
    int value = 7;

    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_put(&y, &value, 1, 1);
        value = 8;
        shmem_int_put_nbi(&z, &value, 1, 1);
    }
    shmem_finalize();
    return 0;
}
