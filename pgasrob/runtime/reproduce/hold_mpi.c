/* MPI: what is held back, and how it is let go. The wrappers of its functions are generated (wrappers.py). */
#define _GNU_SOURCE
#include "hold_mpi.h"

#include <stdlib.h>
#include <string.h>

/* A contiguous piece of memory that holds `count` elements of `type` at `from`: where it begins and ends. */
static size_t spanned(int count, MPI_Datatype type, MPI_Aint *begins) {
    MPI_Aint lower, extent, true_extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, begins, &true_extent);
    return count > 0 ? (size_t)((count - 1) * extent + true_extent) : 0;
}

/* Whether nothing lies between the elements: otherwise what comes is not kept in a buffer first. */
static int is_dense(MPI_Datatype type) {
    MPI_Aint lower, extent;
    int size;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &lower, &extent);
    return lower == 0 && extent == size;
}

/* Windows: how many locks this rank holds there, and what displacements count at each rank (NULL: bytes). */
struct window {
    struct window *next;
    MPI_Win win;
    int locks, *units;
};
static struct window *windows;

static struct window *window_of(MPI_Win win) {
    struct window *window = windows;
    while (window && window->win != win) window = window->next;
    if (!window) {
        window = calloc(1, sizeof *window);
        window->win = win;
        window->next = windows;
        windows = window;
    }
    return window;
}

void pgasrob_locked(MPI_Win win, int change) { window_of(win)->locks += change; }

void pgasrob_window(MPI_Win win, int unit, MPI_Comm comm) {
    struct window *window = window_of(win); /* a new one may have the handle of one that was freed */
    int size;
    PMPI_Comm_size(comm, &size);
    window->locks = 0;
    window->units = realloc(window->units, size * sizeof unit);
    PMPI_Allgather(&unit, 1, MPI_INT, window->units, 1, MPI_INT, comm);
}

static size_t unit_of(MPI_Win win, int target) {
    const struct window *window = window_of(win);
    return window->units && target >= 0 ? (size_t)window->units[target] : 1;
}

struct kept {
    enum transfer kind;
    const void *from, *compared; /* NULL: the buffers of the operation */
    MPI_Aint begins[2], result_begins;
    int count, result_count, target_count;
    MPI_Datatype type, result_type, target_type;
    void *result;
    MPI_Aint place;
    MPI_Op op;
    MPI_Win win;
};

static void transfer(struct operation *operation) {
    struct kept *k = (struct kept *)operation->arguments;
    const char *from = operation->source[0].bytes ? (char *)operation->source[0].to - k->begins[0] : k->from;
    const char *compared = operation->source[1].bytes ? (char *)operation->source[1].to - k->begins[1] : k->compared;
    void *result = operation->result.bytes ? (char *)operation->result.from - k->result_begins : k->result;
    int target = operation->target;
    switch (k->kind) {
    case PUT:
        PMPI_Put(from, k->count, k->type, target, k->place, k->target_count, k->target_type, k->win);
        break;
    case GET:
        PMPI_Get(result, k->result_count, k->result_type, target, k->place, k->target_count, k->target_type, k->win);
        break;
    case ACCUMULATE:
        PMPI_Accumulate(from, k->count, k->type, target, k->place, k->target_count, k->target_type, k->op, k->win);
        break;
    case GET_ACCUMULATE:
        PMPI_Get_accumulate(from, k->count, k->type, result, k->result_count, k->result_type, target, k->place,
                            k->target_count, k->target_type, k->op, k->win);
        break;
    case FETCH_AND_OP: PMPI_Fetch_and_op(from, result, k->type, target, k->place, k->op, k->win); break;
    case COMPARE_AND_SWAP: PMPI_Compare_and_swap(from, compared, result, k->type, target, k->place, k->win); break;
    }
}

void pgasrob_flush(struct operation *operation) {
    struct kept *k = (struct kept *)operation->arguments;
    if (operation->last || operation->target < 0 || !window_of(k->win)->locks) return; /* an active epoch: it is complete when that is */
    PMPI_Win_flush(operation->target, k->win);
}

static int answered(void *unused, MPI_Status *status) {
    (void)unused;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int freed(void *unused) { (void)unused; return MPI_SUCCESS; }
static int cancelled(void *unused, int complete) { (void)unused; (void)complete; return MPI_SUCCESS; }

static struct { MPI_Request request; int used; } own_requests[1024];

static int own(MPI_Request request) {
    for (int i = 0; i < 1024; i++)
        if (own_requests[i].used && own_requests[i].request == request) return i;
    return -1;
}

int pgasrob_transfer(struct entry *entry, enum transfer kind, const void *from, int count, MPI_Datatype type,
                     const void *compared, void *result, int result_count, MPI_Datatype result_type, int target,
                     MPI_Aint place, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                     MPI_Request *request) {
    struct operation *operation = pgasrob_operation(PLACE(win), target, transfer, sizeof(struct kept));
    struct kept *kept = (struct kept *)operation->arguments;
    MPI_Aint begins;
    pgasrob_inside++;
    int passive = window_of(win)->locks > 0, reads = kind != GET && op != MPI_NO_OP;
    *kept = (struct kept){.kind = kind, .from = from, .compared = compared, .count = count, .result_count = result_count,
                          .target_count = target_count, .type = type, .result_type = result_type,
                          .target_type = target_type, .result = result, .place = place, .op = op, .win = win};
    if (reads && from) {
        size_t bytes = spanned(count, type, &kept->begins[0]);
        pgasrob_source(operation, 0, (const char *)from + kept->begins[0], bytes);
    }
    if (compared) {
        size_t bytes = spanned(1, type, &kept->begins[1]);
        pgasrob_source(operation, 1, (const char *)compared + kept->begins[1], bytes);
    }
    /* In an active epoch nothing has come before its end, and so it goes where the program wants it. */
    if (result && passive && is_dense(result_type)) {
        size_t bytes = spanned(result_count, result_type, &kept->result_begins);
        pgasrob_result(operation, (char *)result + kept->result_begins, bytes);
    }
    operation->fetches = result != NULL;
    operation->keep = !passive;
    operation->located = kind != PUT && kind != GET;
    operation->location = (size_t)place * unit_of(win, target);
    operation->extent = spanned(target_count, target_type, &begins);
    if (request) {
        int free = 0;
        PMPI_Grequest_start(answered, freed, cancelled, NULL, request);
        while (free < 1023 && own_requests[free].used) free++;
        own_requests[free].request = *request;
        own_requests[free].used = 1;
        operation->request = (void *)(size_t)*request;
    }
    pgasrob_inside--;
    if (target == MPI_PROC_NULL) entry = NULL;
    pgasrob_issue(operation, entry, 0, 0);
    return MPI_SUCCESS;
}

static void complete(struct operation *operation) {
    struct kept *kept = (struct kept *)operation->arguments;
    PMPI_Win_complete(kept->win);
    pgasrob_forget(operation->place);
}

void pgasrob_ends(MPI_Win win) {
    struct operation *operation = pgasrob_operation(PLACE(win), -1, complete, sizeof(struct kept));
    ((struct kept *)operation->arguments)->win = win;
    operation->last = 1;
    pgasrob_complete_locally(PLACE(win), -1);
    pgasrob_issue_last(operation);
}

void pgasrob_requests(int count, MPI_Request *requests) {
    for (int i = 0; i < count; i++) {
        int place = own(requests[i]);
        if (place < 0) continue;
        pgasrob_complete_request((void *)(size_t)requests[i]);
        own_requests[place].used = 0;
        PMPI_Grequest_complete(requests[i]);
    }
}

int pgasrob_not_yet(struct entry *entry, MPI_Request *request) {
    if (own(*request) < 0) return 0;
    if (!entry && pgasrob_holding_all() && pgasrob_waits_for((void *)(size_t)*request)) {
        pgasrob_poll();
        return 1;
    }
    pgasrob_requests(1, request);
    return 0;
}

static int until_done(MPI_Request *request, MPI_Status *status) {
    int done = 0, result = MPI_SUCCESS;
    while (!done && result == MPI_SUCCESS) {
        pgasrob_inside++;
        result = PMPI_Test(request, &done, status);
        pgasrob_inside--;
        if (!done) pgasrob_idle();
    }
    return result;
}

int pgasrob_barrier(MPI_Comm comm) {
    MPI_Request request;
    PMPI_Ibarrier(comm, &request);
    return until_done(&request, MPI_STATUS_IGNORE);
}

int pgasrob_send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Request request;
    PMPI_Isend(from, count, type, to, tag, comm, &request);
    return until_done(&request, MPI_STATUS_IGNORE);
}

int pgasrob_receive(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request request;
    PMPI_Irecv(to, count, type, from, tag, comm, &request);
    return until_done(&request, status);
}

void pgasrob_begin(void) {
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    pgasrob_start(rank, size);
}

void pgasrob_finish(void) {
    PMPI_Barrier(MPI_COMM_WORLD);
    pgasrob_end();
}
