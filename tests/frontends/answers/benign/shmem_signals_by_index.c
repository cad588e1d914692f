// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* data come with their signals, which are polled by index */
static uint64_t sig[3];
static long data[3];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 1) {
        long v[3] = {4, 5, 6};
        for (int i = 0; i < 3; i++) shmem_long_put_signal_nbi(&data[i], &v[i], 1, &sig[i], 1, SHMEM_SIGNAL_SET, 0);
        shmem_quiet();
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
