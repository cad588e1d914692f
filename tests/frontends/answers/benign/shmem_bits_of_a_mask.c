// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* a bit for each flag that has been seen */
static long flag[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else if (me == 0) {
        unsigned seen = 0;
        while (seen != 7)
            for (int i = 2; i >= 0; i--)
                if (!(seen & 1u << i) && shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1)) seen |= 1u << i;
    }
    shmem_finalize();
    return 0;
}
