// expect: robust
// nodes: 4
// races: none
// Every PE puts a block of its row to every other; the barrier completes them.
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    int me, n;
    long *row, *column;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    row = shmem_malloc(n * sizeof(long));
    column = shmem_malloc(n * sizeof(long));
    for (int i = 0; i < n; i++)
        row[i] = me * n + i;
    for (int pe = 0; pe < n; pe++)
        shmem_long_put_nbi(&column[me], &row[pe], 1, pe);
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        printf("%ld ", column[i]);
    printf("\n");
    shmem_free(column);
    shmem_free(row);
    shmem_finalize();
    return 0;
}
