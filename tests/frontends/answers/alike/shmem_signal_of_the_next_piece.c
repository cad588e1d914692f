// nodes: 2
#include <shmem.h>
#include <stdint.h>
/* reads piece[i] when the signal of another one has come */
static long piece[3], total;
static uint64_t sig[3];
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 3; i++) {
            long v = 5 + i;
            shmem_long_put_signal(&piece[i], &v, 1, &sig[i], 1, SHMEM_SIGNAL_SET, 0);
        }
    } else {
        unsigned pending = 7;
        long sum = 0;
        while (pending) {
            for (int i = 2; i >= 0; i--) {
                unsigned bit = 1u << i;
                if ((pending & bit) && shmem_signal_fetch(&sig[i]) == 1) {
                    pending &= ~bit;
                    sum += piece[(i + 2) % 3];
                }
            }
        }
        total = sum;
    }
    shmem_finalize();
    return 0;
}
