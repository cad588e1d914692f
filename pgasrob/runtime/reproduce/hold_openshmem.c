/* OpenSHMEM: what is held back, and how it is let go. The wrappers of its functions are generated (wrappers.py). */
#define _GNU_SOURCE
#include "hold_openshmem.h"
#include "ending.h"

#include <pshmem.h>

struct transfer {
    shmem_ctx_t context;
    void *remote;
    size_t bytes;
};

static void put(struct operation *operation) {
    struct transfer *transfer = (struct transfer *)operation->arguments;
    pshmem_ctx_putmem(transfer->context, transfer->remote, operation->source[0].to, transfer->bytes, operation->target);
}

static void get(struct operation *operation) {
    struct transfer *transfer = (struct transfer *)operation->arguments;
    pshmem_ctx_getmem(transfer->context, (void *)operation->result.from, transfer->remote, transfer->bytes,
                      operation->target);
}

void pgasrob_flush(struct operation *operation) {
    (void)operation;
    /* Contexts of Open MPI share what is under way. */
    pshmem_quiet();
}

/* Elements are operations of their own: nothing orders them. */
static void transfer(struct entry *entry, shmem_ctx_t context, char *remote, char *local, size_t size, size_t count,
                     ptrdiff_t remote_stride, ptrdiff_t local_stride, int pe, int fetches, int captured) {
    for (size_t i = 0; i < count; i++) {
        struct operation *operation =
            pgasrob_operation((void *)context, pe, fetches ? get : put, sizeof(struct transfer));
        *(struct transfer *)operation->arguments =
            (struct transfer){context, remote + (ptrdiff_t)(i * size) * remote_stride, size};
        operation->fenced = !fetches;
        operation->fetches = fetches;
        if (fetches)
            pgasrob_result(operation, local + (ptrdiff_t)(i * size) * local_stride, size);
        else
            pgasrob_source(operation, 0, local + (ptrdiff_t)(i * size) * local_stride, size);
        pgasrob_issue(operation, entry, (int)i, captured);
    }
}

void pgasrob_put(struct entry *entry, shmem_ctx_t context, void *to, const void *from, size_t size, size_t count,
                 ptrdiff_t to_stride, ptrdiff_t from_stride, int pe, int captured) {
    transfer(entry, context, to, (char *)from, size, count, to_stride, from_stride, pe, 0, captured);
}

void pgasrob_get(struct entry *entry, shmem_ctx_t context, void *to, const void *from, size_t size, size_t count, int pe) {
    transfer(entry, context, (char *)from, to, size, count, 1, 1, pe, 1, 0);
}

/* At the exit, which finalises the library where the program has not: what is held back goes before, and the library's
 * calls are its own from here on. */
static void leaving(void) {
    if (!pgasrob_inside) pgasrob_complete_all();
    pgasrob_inside++;
}

void pgasrob_begin(void) {
    pgasrob_initialised(leaving);
    pgasrob_start(pshmem_my_pe(), pshmem_n_pes());
}

void pgasrob_finish(void (*real)(void)) {
    pshmem_barrier_all();
    pgasrob_end();
    pgasrob_finalise(real);
}
