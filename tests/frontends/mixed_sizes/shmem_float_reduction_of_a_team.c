// nodes: 2
// right
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <assert.h>
float v, s;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    v = 0.1f * (me + 1);
    shmem_float_sum_reduce(SHMEM_TEAM_WORLD, &s, &v, 1);
    printf("%g", s);
    shmem_finalize();
    return 0;
}
