/* Stores at random more than files may be large, then says that it goes on. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Win window;
    volatile int *memory;
    MPI_Win_allocate(4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, 300000});
    unsigned chance = 1;
    for (int i = 0; i < 100000; i++) memory[(chance = chance * 1664525 + 1013904223) >> 22] = i;
    printf("it goes on\n");
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
