// nodes: 2
// PE 0 sends the second item before PE 1 has used the first one: nothing says that the buffer is free again.
#include <shmem.h>
#include <stdio.h>

static int item, full, taken, sum;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    for (int i = 1; i <= 2; i++) {
        if (me == 0) {
#ifdef REPAIRED
            shmem_int_wait_until(&taken, SHMEM_CMP_EQ, i - 1);
#endif
            shmem_int_p(&item, i, 1);
            shmem_fence();
            shmem_int_p(&full, i, 1);
        } else if (me == 1) {
            shmem_int_wait_until(&full, SHMEM_CMP_GE, i);
            sum += 10 * item;
            shmem_int_p(&taken, i, 0);
        }
    }
    shmem_barrier_all();
    if (me == 1)
        printf("%d\n", sum);
    shmem_finalize();
    return 0;
}
