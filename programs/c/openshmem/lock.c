// expect: robust
// nodes: 2
// races: none
// shmem_clear_lock completes what its holder has put in the default context.
#include <shmem.h>

static long lock;
static int total;

int main(void)
{
    shmem_init();
    shmem_set_lock(&lock);
    shmem_int_p(&total, shmem_int_g(&total, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_finalize();
    return 0;
}
