// nodes: 2
// A value that is read too early is printed, and kept in a variable that is cleared later on.
#include <shmem.h>
#include <stdio.h>

static int result, kept;
static int latest(void)
{
    return result;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0)
        shmem_int_p(&result, 42, 1);
#ifdef REPAIRED
    shmem_barrier_all();
#endif
    if (me == 1) {
        int seen = latest();
        kept = seen;
        printf("%d\n", seen);
        kept = 0;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
