/* The worst case for recording: loads and stores of the symmetric heap in no order. Usage: gather CELLS ACCESSES ROUNDS.
 * Rank 0 prints the seconds of the rounds and a checksum. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static double now(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec + 1e-6 * t.tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    long cells = atol(argv[1]), accesses = atol(argv[2]), rounds = atol(argv[3]), sum = 0;
    shmem_init();
    long *a = shmem_calloc(cells, sizeof *a);
    unsigned seed = shmem_my_pe() + 1;
    shmem_barrier_all();
    double start = now();
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < accesses; i++) {
            seed = seed * 1664525u + 1013904223u;
            long at = (seed >> 8) % cells;
            sum += a[at];
            a[at] = i;
        }
        shmem_barrier_all();
    }
    double seconds = now() - start;
    if (shmem_my_pe() == 0) printf("%.6f seconds, sum %ld\n", seconds, sum);
    shmem_finalize();
    return 0;
}
