// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the variable is changed before it has been read */
static long flag[2], v;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        v = 1;
        shmem_long_put_nbi(&flag[0], &v, 1, 0);
        v = 2;
        shmem_long_put_nbi(&flag[1], &v, 1, 0);
        shmem_quiet();
    } else if (me == 0) {
        int done[2] = {0, 0}, left = 2;
        while (left > 0)
            for (int i = 0; i < 2; i++)
                if (!done[i] && shmem_long_test(&flag[i], SHMEM_CMP_NE, 0)) {
                    done[i] = 1;
                    left--;
                }
        printf("%ld\n", flag[0]);
    }
    shmem_finalize();
    return 0;
}
