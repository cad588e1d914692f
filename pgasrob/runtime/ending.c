/* Open MPI's shmem_finalize (4.1) ends with a segmentation fault, and it runs at exit even of a program that does not
 * call it. So with Open MPI it is never called: the processes leave by MPI_Finalize, which oshrun takes for a regular
 * end, and then without the exit handlers that the library registered when it was initialised. Handlers of the
 * program from before the initialisation (destructors of static C++ objects among them) do not run either. */
#define _GNU_SOURCE
#include "ending.h"
#include "real.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*at_the_end)(void);
static bool finalised;
static pid_t process;

static bool is_open_mpi(void) { return dlsym(RTLD_DEFAULT, "oshmem_shmem_finalize") != NULL; }

static void finalise_mpi(void) {
    if (finalised) return;
    finalised = true;
    ((void (*)(void))pgasrob_real("pshmem_barrier_all", "shmem_barrier_all"))();
    fflush(NULL);
    ((int (*)(void))pgasrob_real("PMPI_Finalize", "MPI_Finalize"))();
}

static void leave(int status, void *unused) {
    (void)unused;
    bool child = getpid() != process;  /* of a fork: it is no rank */
    if (at_the_end && !child) at_the_end();
    if (!is_open_mpi()) return;
    if (!status && !child) finalise_mpi();
    fflush(NULL);
    _exit(status);
}

void pgasrob_initialised(void (*last)(void)) {
    at_the_end = last;
    process = getpid();
    on_exit(leave, NULL);
}

void pgasrob_finalise(void (*real)(void)) {
    if (is_open_mpi()) finalise_mpi();
    else real();
}
