/* What the tests of this suite share: set-up, messages, windows of every kind, and a count of errors. */
#ifndef HARNESS_H
#define HARNESS_H
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

enum memory { PLAIN, ALLOCATED, CREATED_OF_MPI, N_KINDS, };

struct window {
    const char *name;
    enum memory kind;
    MPI_Win win;
    int count;
    int *base;
};

void harness_begin(int *argc, char ***argv);
int harness_end(int errors);
void harness_say(int level, const char *format, ...);
int harness_next_window(struct window *w, int count);
void harness_free(struct window *w);
int harness_errors_of_all(int errors);
int harness_alive;      /* windows that have not been freed */
#endif
