/* Two threads of a rank store to a window; a buffer in use is freed before the operation has completed at the target. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static long *memory;

static void *store(void *where) {
    memory[(long)where] = 7;
    return NULL;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Win window;
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    pthread_t thread;
    pthread_create(&thread, NULL, store, (void *)3);
    pthread_join(thread, NULL);
    store((void *)4);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    size_t many = 1 << 20;
    long *buffer = malloc(many * sizeof *buffer);
    buffer[many - 1] = 5;
    MPI_Request request;
    MPI_Rput(buffer + many - 1, 1, MPI_LONG, 0, 5, 1, MPI_LONG, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    *(volatile long *)&buffer[many - 1] = 6;
    free(buffer);
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
