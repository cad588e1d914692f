// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the signal goes by itself, beside the data */
static uint64_t sig[3];
static long data[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        for (int i = 0; i < 3; i++) {
            shmem_long_p(&data[i], i + 4, 0);
            shmem_uint64_atomic_set(&sig[i], 1, 0);
        }
    } else if (me == 0) {
        int done[3] = {0, 0, 0}, left = 3;
        while (left > 0)
            for (int i = 0; i < 3; i++)
                if (!done[i] && shmem_signal_fetch(&sig[i]) == 1) {
                    done[i] = 1;
                    left--;
                }
        printf("%ld\n", data[0] + data[1] + data[2]);
    }
    shmem_finalize();
    return 0;
}
