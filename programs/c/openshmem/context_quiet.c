// expect: robust
// nodes: 2
// races: none
// The context is completed by its own quiet before the barrier.
#include <shmem.h>
#include <stdio.h>

static long x;

int main(void)
{
    shmem_ctx_t ctx;

    shmem_init();
    if (shmem_ctx_create(0, &ctx) != 0)
        shmem_global_exit(1);
    if (shmem_my_pe() == 0)
        shmem_ctx_long_p(ctx, &x, 5, 1);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%ld\n", x);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
