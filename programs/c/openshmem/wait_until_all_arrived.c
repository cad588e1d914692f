// expect: robust
// nodes: 2
// races: none
// As test_all_arrived, waiting: put -> fence -> put of the flag -> wait -> load.
#include <shmem.h>
#include <stdio.h>

static int item[2], told[2];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    for (int pe = 0; pe < npes; pe++)
        shmem_int_p(&item[me], 1 + me, pe);
    shmem_fence();
    for (int pe = 0; pe < npes; pe++)
        shmem_int_p(&told[me], 1, pe);
    shmem_int_wait_until_all(told, npes, NULL, SHMEM_CMP_EQ, 1);
    for (int pe = 0; pe < npes; pe++)
        printf("%d: %d\n", me, item[pe]);
    shmem_finalize();
    return 0;
}
