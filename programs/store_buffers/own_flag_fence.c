// expect: robust
// nodes: 2
// races: 2 pairs
// The same with a fence of the processor between the store and the load, which waits until the store buffer is empty;
// a blocking atomic on the own memory does as much.
#include <shmem.h>

long flag, mail;

int main(void) {
    long seen = 0, one = 1;
    shmem_init();
    if (shmem_my_pe() == 0) {
        flag = 1;
        __sync_synchronize();
        seen = mail;
    } else {
        shmem_long_put(&mail, &one, 1, 0);
        shmem_quiet();
        seen = shmem_long_g(&flag, 0);
    }
    shmem_finalize();
    return seen == 2;
}
