// nodes: 2
// The context has been destroyed.
#include <shmem.h>
#include <stdio.h>

static int x;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    (void)npes;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) != 0)
        shmem_global_exit(1);
#ifdef REPAIRED
    if (me == 0)
        shmem_ctx_int_p(ctx, &x, 1, 1);
    shmem_ctx_destroy(ctx);
#else
    shmem_ctx_destroy(ctx);
    if (me == 0)
        shmem_ctx_int_p(ctx, &x, 1, 1);
#endif
    shmem_barrier_all();
    printf("%d\n", x);
    shmem_finalize();
    return 0;
}
