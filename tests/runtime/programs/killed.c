/* PE 1 puts without end and is killed by itself after so many, or never ("0"). */
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>

long counter, mine;

int main(int argc, char **argv) {
    long most = argc > 1 ? atol(argv[1]) : 0;
    shmem_init();
    if (shmem_my_pe() == 1)
        for (long i = 1;; i++) {
            mine = i;
            shmem_long_p(&counter, mine, 0);
            if (i == most) raise(SIGKILL);
        }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
