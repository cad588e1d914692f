// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the tail is put with a second value */
static struct { long head, body, tail; } flags;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&flags.head, 1, 0);
        shmem_long_p(&flags.body, 1, 0);
        shmem_long_p(&flags.tail, 1, 0);
        shmem_long_p(&flags.tail, 2, 0);
    } else if (me == 0) {
        shmem_long_wait_until(&flags.tail, SHMEM_CMP_GE, 1);
        shmem_long_wait_until(&flags.head, SHMEM_CMP_EQ, 1);
        shmem_long_wait_until(&flags.body, SHMEM_CMP_EQ, 1);
    }
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", flags.tail);
    shmem_finalize();
    return 0;
}
