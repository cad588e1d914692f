// nodes: 2
#include <shmem.h>
#include <stdio.h>
static uint64_t sig, late;
static long data;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        long v = 9;
        shmem_long_put_signal(&data, &v, 1, &sig, 1, SHMEM_SIGNAL_SET, 0);
    } else if (shmem_my_pe() == 0) {
        int early = shmem_signal_fetch(&sig) == 1;
        if (!early) shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data);
    }
    shmem_finalize();
    return 0;
}
