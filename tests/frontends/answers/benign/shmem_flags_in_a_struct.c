// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* flags of a struct */
static struct { long head, body, tail; } flags;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        shmem_long_p(&flags.head, 1, 0);
        shmem_long_p(&flags.body, 1, 0);
        shmem_long_p(&flags.tail, 1, 0);
    } else if (me == 0) {
        long *of[3] = {&flags.tail, &flags.head, &flags.body};
        int done = 0, seen[3] = {0, 0, 0};
        while (done < 3)
            for (int i = 0; i < 3; i++)
                if (!seen[i] && shmem_long_test(of[i], SHMEM_CMP_GE, 1)) {
                    seen[i] = 1;
                    done++;
                }
    }
    shmem_finalize();
    return 0;
}
