// nodes: 2
// How often a PE works depends on how far the other one is when it asks; what it reads is never printed.
#include <shmem.h>
#include <stdio.h>

static int progress;
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), done = 0;
    for (int i = 0; i < 2; i++) {
        if (me == 0)
            progress = i + 1;
#ifdef REPAIRED
        shmem_barrier_all();
#endif
        if (me == 1) {
            if (shmem_int_g(&progress, 0) == 1)
                done++;
        }
#ifdef REPAIRED
        shmem_barrier_all();
#endif
    }
    shmem_barrier_all();
    if (me == 1)
        printf("%d\n", done);
    shmem_finalize();
    return 0;
}
