// nodes: 2
// Values that are read while the other PE sets them, and at which nothing looks: thrown away, overwritten, kept in a
// variable that nobody reads, returned by a function whose result is not used.
#include <shmem.h>
#include <stdio.h>

static int flag;
static int peek(int pe)
{
    return shmem_int_g(&flag, pe);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&flag, 1, 1);
    } else {
        int kept = peek(1), twice = 2 * kept; peek(1);
        kept = 3;
        printf("%d\n", kept);
        (void)twice;
    }
    shmem_barrier_all();
    printf("%d\n", flag);
    shmem_finalize();
    return 0;
}
