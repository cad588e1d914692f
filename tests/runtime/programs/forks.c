/* Rank 0 stores 1, then a child of it 2 many times, while it waits for that, then it stores 3. */
#include <shmem.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long stored;

int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) {
        stored = 1;
        if (!fork()) {
            for (int i = 0; i < 100; i++) stored = 2;
            exit(0);
        }
        wait(NULL);
        stored = 3;
    }
    shmem_finalize();
    return 0;
}
