// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* prints which flags the first look that found any has found */
static int flag[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) shmem_int_p(&flag[i], 7, 0);
    } else {
        int mask = 0, first = 0;
        while (mask != 7) {
            for (int i = 2; i >= 0; i--)
                if (!(mask & (1 << i)) && shmem_int_test(&flag[i], SHMEM_CMP_EQ, 7)) mask |= 1 << i;
            if (!first) first = mask;
        }
        printf("at first there were %d\n", first);
    }
    shmem_finalize();
    return 0;
}
