// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// Every PE tells every PE, itself included, that it has put its item, and works until all have told it. A test that fails
// has seen one flag that is not set, and the loop comes back to it: as good as shmem_int_wait_until_all. Counted: test (PE
// 0) -> put of PE 1 -> test (PE 1) -> put of PE 0 -> test (PE 0).
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
    int rounds = 0;
    while (!shmem_int_test_all(told, npes, NULL, SHMEM_CMP_EQ, 1))
        rounds++;
    for (int pe = 0; pe < npes; pe++)
        printf("%d: %d after %d rounds\n", me, item[pe], rounds);
    shmem_finalize();
    return 0;
}
