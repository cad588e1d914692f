// nodes: 3
#include <shmem.h>
#include <string.h>
/* as with a fence, but there is none */
static int block[2][2], flag[2];
static int result[4];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me > 0) {
        int mine[2] = {me * 10, me * 10 + 1};
        shmem_int_put_nbi(block[me - 1], mine, 2, 0);
        shmem_int_p(&flag[me - 1], 1, 0);
    } else {
        int got[2] = {0, 0}, missing = 2;
        do {
            for (int w = 0; w < 2; w++) {
                if (got[w] || !shmem_int_test(&flag[w], SHMEM_CMP_NE, 0)) continue;
                memcpy(result + 2 * w, block[w], 2 * sizeof(int));
                got[w] = 1;
                missing--;
            }
        } while (missing);
    }
    shmem_finalize();
    return 0;
}
