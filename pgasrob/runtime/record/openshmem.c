#define _GNU_SOURCE
#include "pgasrob_openshmem.h"

#include <pthread.h>
#include <stdlib.h>

static int own_pe, pes;
static word allocations;

static void all_wait(void) { ((void (*)(void))pgasrob_real("pshmem_barrier_all", "shmem_barrier_all"))(); }

void pgasrob_shmem_begin(word number, int thread_level, const char *function, void *caller) {
    static bool begun;
    if (begun) return;
    begun = true;
    int (*my_pe)(void) = pgasrob_real("pshmem_my_pe", "shmem_my_pe");
    int (*n_pes)(void) = pgasrob_real("pshmem_n_pes", "shmem_n_pes");
    own_pe = my_pe();
    pes = n_pes();
    pgasrob_initialised(pgasrob_end);
    pgasrob_begin(API_OPENSHMEM, own_pe, pes);
    if (!pgasrob_begun) return;
    (void)number;
    pgasrob_call(OP_INITIALISE, 0, function, NULL, caller, WORDS((word)own_pe, (word)pes, (word)(int64_t)thread_level));
    /* Nobody records anything else before all have their call in the trace: it was before all returned. */
    all_wait();
    pgasrob_return(OP_INITIALISE, NULL, 0);
    pgasrob_static_regions();
    all_wait();  /* nobody changes what others have not yet recorded */
}

void pgasrob_shmem_end(const char *function, void *caller) {
    (void)function, (void)caller;
    pgasrob_return(OP_FINALISE, NULL, 0);
    pgasrob_end();
}

int pgasrob_own_pe(void) { return own_pe; }

/* --- contexts --- */

enum { CONTEXTS = 256 };
static struct { shmem_ctx_t context; word queue; } contexts[CONTEXTS];
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

word pgasrob_queue(shmem_ctx_t context) {
    word queue = 0;
    if (context == SHMEM_CTX_DEFAULT) return 0;
    pthread_mutex_lock(&contexts_lock);
    for (int i = 0; i < CONTEXTS && !queue; i++)
        if (contexts[i].context == context) queue = contexts[i].queue;
    pthread_mutex_unlock(&contexts_lock);
    return queue;
}

void pgasrob_context_created(shmem_ctx_t context, int status) {
    word queue = status ? 0 : pgasrob_fresh_identity();
    bool kept = status;
    pthread_mutex_lock(&contexts_lock);
    for (int i = 0; i < CONTEXTS && !kept; i++) {
        if (contexts[i].queue) continue;
        contexts[i].context = context;
        contexts[i].queue = queue;
        kept = true;
    }
    pthread_mutex_unlock(&contexts_lock);
    pgasrob_return(OP_CONTEXT_CREATE, WORDS((word)(int64_t)status, queue));
    if (!kept) pgasrob_not_known("shmem_ctx_create", "more than 256 contexts at once", NULL);
}

void pgasrob_context_destroyed(shmem_ctx_t context) {
    word queue = pgasrob_queue(context);
    pgasrob_return(OP_CONTEXT_DESTROY, NULL, 0);
    pgasrob_buffers_done(queue, -1);
    pthread_mutex_lock(&contexts_lock);
    for (int i = 0; i < CONTEXTS; i++)
        if (queue && contexts[i].queue == queue) contexts[i].queue = 0, contexts[i].context = NULL;
    pthread_mutex_unlock(&contexts_lock);
}

/* --- operations --- */

void pgasrob_transfer(enum operation operation, unsigned flags, const char *function, const char *type, void *caller,
                      word queue, struct side remote, struct side local, size_t size, size_t n, int pe, word value,
                      const word *signal) {
    bool strided = remote.stride != 1 || local.stride != 1;
    word blocks = strided ? n : 1, block = strided ? size : n * size;
    const word operands[] = {
        (word)(int64_t)pe,
        (word)remote.address, blocks, block, strided ? (word)remote.stride * size : block,
        (word)local.address, blocks, block, strided ? (word)local.stride * size : block,
        size,
        operation == OP_GET ? 0 : flags & CALL_VALUE ? value : pgasrob_value(local.address, n * size),
        queue,
        signal ? signal[0] : 0, signal ? signal[1] : 0, signal ? signal[2] : 0,
    };
    size_t spanned = strided && n ? ((n - 1) * local.stride + 1) * size : n * size;
    if (flags & CALL_NONBLOCKING) pgasrob_buffer(queue, pe, local.address, spanned, caller);
    else pgasrob_private(local.address, operation == OP_GET ? 0 : spanned, caller);
    pgasrob_call(operation, flags, function, type, caller, operands, signal ? 15 : 12);
}

void pgasrob_atomic(unsigned flags, const char *function, const char *type, void *caller, word queue,
                    const void *target, size_t size, enum update update, word operand, word expected,
                    const void *result, int pe) {
    if (result) pgasrob_buffer(queue, pe, result, size, caller);
    pgasrob_call(OP_ATOMIC, flags, function, type, caller,
                 WORDS((word)(int64_t)pe, (word)target, size, 1, update, operand, expected, 0, 0, (word)result, queue));
}

void pgasrob_wait(enum operation operation, const char *function, const char *type, void *caller,
                  const volatile void *address, size_t size, int comparison, word value) {
    static const uint8_t known[][2] = {{SHMEM_CMP_EQ, 0}, {SHMEM_CMP_NE, 1}, {SHMEM_CMP_GT, 2},
                                       {SHMEM_CMP_LE, 3}, {SHMEM_CMP_LT, 4}, {SHMEM_CMP_GE, 5}};
    word code = UINT64_MAX;
    for (size_t i = 0; i < 6; i++)
        if (known[i][0] == comparison) code = known[i][1];
    pgasrob_call(operation, 0, function, type, caller, WORDS((word)address, size, 1, code, value, 0, 0));
}

void pgasrob_quieted(word queue) {
    pgasrob_return(OP_QUIET, NULL, 0);
    pgasrob_buffers_done(queue, -1);
}

/* --- collectives --- */

enum { SETS = 256 };
static struct { word group, calls; } sets[SETS];

/* An active set has the same identity on all ranks: its own numbers, above all fresh ones. */
static word *set_of(int start, int log_stride, int size) {
    word group = start == 0 && log_stride == 0 && size == pes
        ? 1 : 1ull << 63 | (word)start << 40 | (word)log_stride << 32 | (word)size;
    size_t at = group * 0x9e3779b97f4a7c15ull >> 56;
    for (size_t i = 0; i < SETS; i++, at = (at + 1) % SETS) {
        if (sets[at].group == group) return &sets[at].group;
        if (sets[at].group) continue;
        sets[at].group = group;
        int *members = group == 1 ? NULL : malloc((size_t)size * sizeof *members);
        for (int k = 0; members && k < size; k++) members[k] = start + k * (1 << log_stride);
        if (members) pgasrob_group(group, members, (size_t)size);
        free(members);
        return &sets[at].group;
    }
    return NULL;
}

void pgasrob_set_collective(enum collective kind, enum update update, const char *function, const char *type,
                            void *caller, int start, int log_stride, int size, int root, const void *destination,
                            const void *source, size_t element, size_t elements) {
    if (size < 0) start = log_stride = 0, size = pes;
    word *set = set_of(start, log_stride, size);
    if (!set) {
        pgasrob_not_known(function, "more than 256 active sets", caller);
        return;
    }
    word rank = root < 0 ? UINT64_MAX : (word)(start + root * (1 << log_stride));
    pgasrob_call(OP_COLLECTIVE, 0, function, type, caller,
                 WORDS(set[0], set[1]++, kind, rank, (word)destination, (word)source, element, elements, update));
}

/* --- memory --- */

void pgasrob_allocated(const void *address, size_t bytes, void *caller) {
    pgasrob_return(OP_ALLOCATE, WORDS((word)address));
    word which = allocations++;
    pgasrob_region(REGION_HEAP, address, bytes, which, -1, 0, caller);
    if (pgasrob_begun && bytes) all_wait();  /* as the library itself does at the end */
}

void pgasrob_freed(const void *address) {
    pgasrob_return(OP_FREE, NULL, 0);
    pgasrob_end_of_region(REGION_HEAP, address, UINT64_MAX);
}

void pgasrob_pointer(const void *view, const void *object, int pe, void *caller) {
    pgasrob_return(OP_POINTER, WORDS((word)view));
    const char *start;
    size_t bytes;
    word identity;
    if (!view || pe == own_pe) return;
    if (!pgasrob_find_region(REGION_HEAP, object, &start, &bytes, &identity)
        && !pgasrob_find_region(REGION_STATIC, object, &start, &bytes, &identity)) return;
    size_t before = (size_t)((const char *)object - start);
    pgasrob_region(REGION_VIEW, (const char *)view - before, bytes, identity, pe, (word)start, caller);
}
