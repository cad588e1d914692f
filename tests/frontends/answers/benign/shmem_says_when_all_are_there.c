// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* helper that looks at all flags once; main prints when all have come */
static int flag[3], seen[3];
static int look(void) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (!seen[i]) seen[i] = shmem_int_test(&flag[i], SHMEM_CMP_EQ, 7);
        n += seen[i];
    }
    return n;
}
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 2; i >= 0; i--) shmem_int_p(&flag[i], 7, 0);
    } else {
        while (look() < 3)
            ;
        printf("all three are there\n");
    }
    shmem_finalize();
    return 0;
}
