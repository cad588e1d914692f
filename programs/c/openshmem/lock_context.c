// expect: not robust
// nodes: 2
// races: 1 pair
// shmem_clear_lock completes the default context only: the next holder may miss a put of another context.
#include <shmem.h>

static long lock;
static int total;

int main(void)
{
    shmem_ctx_t ctx;

    shmem_init();
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
    shmem_set_lock(&lock);
    shmem_ctx_int_p(ctx, &total, shmem_ctx_int_g(ctx, &total, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
