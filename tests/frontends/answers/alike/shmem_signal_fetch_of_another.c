// nodes: 2
#include <shmem.h>
#include <stdio.h>
/* the signal of the other message is waited for */
static uint64_t sig[2];
static long data[2];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        long v[2] = {8, 9};
        for (int i = 0; i < 2; i++)
            shmem_long_put_signal_nbi(&data[i], &v[i], 1, &sig[i], 1, SHMEM_SIGNAL_SET, 0);
        shmem_quiet();
    } else if (shmem_my_pe() == 0) {
        if (shmem_signal_fetch(&sig[1]) == 0) shmem_signal_wait_until(&sig[1], SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[0]);
    }
    shmem_finalize();
    return 0;
}
