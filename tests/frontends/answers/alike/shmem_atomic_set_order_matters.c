// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* answers with what it has not seen yet */
static long flag[3], missing;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else if (me == 0) {
        long last = shmem_long_atomic_fetch(&flag[2], 0);
        long first = shmem_long_atomic_fetch(&flag[0], 0);
        shmem_long_p(&missing, last && !first, 1);
    }
    shmem_finalize();
    return 0;
}
