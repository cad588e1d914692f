// expect: robust
// nodes: 2
// races: none
// A lock that is tried until it is free. A try that fails has seen it taken and changes nothing. Who holds it completes
// its put before it gives it on: put -> clear of the lock -> test of the lock -> get.
#include <shmem.h>

static long lock;
static int count;

int main(void)
{
    shmem_init();
    while (shmem_test_lock(&lock))
        ;
    shmem_int_p(&count, shmem_int_g(&count, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_finalize();
    return 0;
}
