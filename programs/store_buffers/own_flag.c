// expect: robust
// tso: not robust
// nodes: 2
// races: 2 pairs
// Each PE raises a flag in its own memory and looks whether the other has put something there: the load may overtake
// the store on x86, so neither PE sees what the other has done. load -> put -> get -> store -> load.
#include <shmem.h>

long flag, mail;

int main(void) {
    long seen = 0, one = 1;
    shmem_init();
    if (shmem_my_pe() == 0) {
        flag = 1;
        seen = mail;
    } else {
        shmem_long_put(&mail, &one, 1, 0);
        shmem_quiet();
        seen = shmem_long_g(&flag, 0);
    }
    shmem_finalize();
    return seen == 2;
}
