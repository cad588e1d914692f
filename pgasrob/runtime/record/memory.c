/* What the memory is called that operations use, and what it holds: for people. FORMAT.md says what is written. */
#define _GNU_SOURCE
#include "trace.h"

#include <pthread.h>
#include <search.h>
#include <string.h>
#include <unwind.h>

static void write_memory(enum memory how, uint32_t pc, uintptr_t address, size_t bytes) {
    word *record = pgasrob_room(3);
    if (!record) return;
    record[1] = address;
    record[2] = bytes;
    pgasrob_commit(record, pgasrob_first_word(KIND_MEMORY, how, 3, pc));
}

/* --- the stack --- */

bool pgasrob_on_stack(uintptr_t address) {
    static __thread uintptr_t from, to;
    if (!to) {
        pthread_attr_t attributes;
        void *start;
        size_t bytes;
        to = 1;
        if (!pthread_getattr_np(pthread_self(), &attributes)) {
            if (!pthread_attr_getstack(&attributes, &start, &bytes)) from = (uintptr_t)start, to = from + bytes;
            pthread_attr_destroy(&attributes);
        }
    }
    return address >= from && address < to;
}

/* Whose frame an address lies in, from `low` to `high`: of the function that the place `inside` is in. */
struct frame { uintptr_t address, inside, low, high; void *caller; bool passed; };

/* The stack pointer of a frame is the end of the one that it has called. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *into) {
    struct frame *frame = into;
    uintptr_t pointer = _Unwind_GetCFA(context);
    if (frame->passed && frame->address < pointer) {
        frame->high = pointer;
        return _URC_END_OF_STACK;
    }
    frame->inside = _Unwind_GetIP(context);
    frame->low = pointer;
    frame->passed |= (void *)frame->inside == frame->caller;
    return _URC_NO_REASON;
}

enum { FRAMES = 16 };
static __thread struct { uintptr_t low, high; uint32_t pc; } frames[FRAMES];
static __thread unsigned latest;

static void tell_of_frame(uintptr_t address, void *caller) {
    struct frame frame = {.address = address, .caller = caller};
    _Unwind_Backtrace(look, &frame);
    if (!frame.high || address < frame.low) return;
    uint32_t pc = pgasrob_pc((void *)frame.inside);
    if (!pc) return;
    for (unsigned i = 0; i < FRAMES; i++) {
        if (frames[i].low == frame.low && frames[i].high == frame.high && frames[i].pc == pc) return;
        if (frames[i].low < frame.high && frame.low < frames[i].high) frames[i].high = 0;  /* it is gone */
    }
    latest = (latest + 1) % FRAMES;
    frames[latest].low = frame.low, frames[latest].high = frame.high, frames[latest].pc = pc;
    write_memory(MEMORY_FRAME, pc, frame.low, frame.high - frame.low);
}

/* --- blocks that the program has allocated: linked with --wrap --- */

struct block { uintptr_t from, to; void *caller; bool told; };

static void *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

void *__real_malloc(size_t bytes);
void __real_free(void *address);

/* Those that overlap are equal: no two in the tree do. */
static int compare(const void *one, const void *other) {
    const struct block *left = one, *right = other;
    return left->to <= right->from ? -1 : left->from >= right->to;
}

static void forget(struct block *like) {
    for (void *found; (found = tfind(like, &blocks, compare));) {
        struct block *gone = *(struct block **)found;
        tdelete(gone, &blocks, compare);
        __real_free(gone);
    }
}

static void *allocated(void *address, size_t bytes, void *caller) {
    struct block *block = address ? __real_malloc(sizeof *block) : NULL;
    if (!block) return address;
    *block = (struct block){(uintptr_t)address, (uintptr_t)address + (bytes ? bytes : 1), caller, false};
    pthread_mutex_lock(&blocks_lock);
    forget(block);
    tsearch(block, &blocks, compare);
    pthread_mutex_unlock(&blocks_lock);
    return address;
}

static void freed(void *address) {
    struct block like = {(uintptr_t)address, (uintptr_t)address + 1, NULL, false};
    if (!address) return;
    pgasrob_fill(&pgasrob_log);  /* what was stored last may be in it */
    pthread_mutex_lock(&blocks_lock);
    forget(&like);
    pthread_mutex_unlock(&blocks_lock);
}

static void tell_of_block(uintptr_t address) {
    struct block like = {address, address + 1, NULL, false}, found = {0};
    pthread_mutex_lock(&blocks_lock);
    void *node = tfind(&like, &blocks, compare);
    struct block *block = node ? *(struct block **)node : NULL;
    if (block && !block->told) found = *block, block->told = true;
    pthread_mutex_unlock(&blocks_lock);
    if (found.to) write_memory(MEMORY_BLOCK, pgasrob_calling_pc(found.caller), found.from, found.to - found.from);
}

/* Those of C++ are in no program in C. */
#define WRAPPED(result, name, ...) \
    result __real_##name(__VA_ARGS__) __attribute__((weak)); \
    result __wrap_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(void *, malloc, size_t bytes) { return allocated(__real_malloc(bytes), bytes, HERE); }
WRAPPED(void *, calloc, size_t n, size_t bytes) { return allocated(__real_calloc(n, bytes), n * bytes, HERE); }
WRAPPED(void *, realloc, void *address, size_t bytes) {
    freed(address);
    return allocated(__real_realloc(address, bytes), bytes, HERE);
}
WRAPPED(void *, aligned_alloc, size_t alignment, size_t bytes) {
    return allocated(__real_aligned_alloc(alignment, bytes), bytes, HERE);
}
WRAPPED(int, posix_memalign, void **made, size_t alignment, size_t bytes) {
    int status = __real_posix_memalign(made, alignment, bytes);
    if (!status) allocated(*made, bytes, HERE);
    return status;
}
WRAPPED(void *, _Znwm, size_t bytes) { return allocated(__real__Znwm(bytes), bytes, HERE); }
WRAPPED(void *, _Znam, size_t bytes) { return allocated(__real__Znam(bytes), bytes, HERE); }
WRAPPED(void, free, void *address) {
    freed(address);
    __real_free(address);
}
WRAPPED(void, _ZdlPv, void *address) {
    freed(address);
    __real__ZdlPv(address);
}
WRAPPED(void, _ZdlPvm, void *address, size_t bytes) {
    freed(address);
    __real__ZdlPvm(address, bytes);
}
WRAPPED(void, _ZdaPv, void *address) {
    freed(address);
    __real__ZdaPv(address);
}

void pgasrob_memory(const void *address, void *caller) {
    uintptr_t at = (uintptr_t)address;
    if (!pgasrob_recording || !address) return;
    if (pgasrob_on_stack(at)) tell_of_frame(at, caller);
    else tell_of_block(at);
}

/* --- contents --- */

enum { PIECE = 4096, MOST_IN_ALL = 16 << 20, MOST_OF_ACCESSES = 4 << 20 };

static __thread size_t written, written_of_accesses;

static size_t zeros(const char *from, size_t bytes) {
    size_t count = 0;
    while (count < bytes && !from[count]) count++;
    return count;
}

/* What memory holds now, up to so many bytes of it. */
void pgasrob_contents(const void *address, size_t bytes, size_t most) {
    const char *at = address;
    size_t left = bytes < most ? bytes : most;
    while (left && pgasrob_recording) {
        size_t piece = left < PIECE ? left : PIECE, used = piece, more = zeros(at, left);
        if (more >= piece) piece = more, used = 0;
        while (used && !at[used - 1]) used--;
        if ((written += used) > MOST_IN_ALL) return;
        size_t words = 3 + (used + sizeof(word) - 1) / sizeof(word);
        word *record = pgasrob_room(words);
        if (!record) return;
        record[1] = (uintptr_t)at;
        record[2] = piece;
        memcpy(record + 3, at, used);
        pgasrob_commit(record, pgasrob_first_word(KIND_CONTENTS, 0, words, 0));
        at += piece;
        left -= piece;
    }
}

/* Memory that an operation reads while it is called, of which nothing else is recorded. */
void pgasrob_private(const void *address, size_t bytes, void *caller) {
    if (!address || !pgasrob_recording || pgasrob_in_region((uintptr_t)address, 1)) return;
    pgasrob_memory(address, caller);
    pgasrob_contents(address, bytes, MOST_OF_CALL);
}

enum { MOST_PERIOD = 64 };

/* `run`: how many accesses it had, and behind it two words of each in its body. */
void pgasrob_run_is_over(word *run) {
    struct { uintptr_t from; size_t bytes; } stores[MOST_PERIOD];
    unsigned count = 0, period = (unsigned)(run[-1] >> 8 & 0xff);
    for (unsigned i = 0; i < period && i < *run; i++) {
        word first = run[1 + 2 * i];
        intptr_t stride = (int32_t)(run[2 + 2 * i] >> 32), last = (intptr_t)((*run - 1 - i) / period) * stride;
        uintptr_t from = first >> 16, size = 1u << (first >> 8 & 7);
        if ((first & 0xff) != KIND_STORE || (from >= pgasrob_buffers_from && from < pgasrob_buffers_to)) continue;
        stores[count].from = from + (uintptr_t)(last < 0 ? last : 0);
        stores[count++].bytes = (size_t)(last < 0 ? -last : last) + size;
    }
    for (unsigned i = 0; i < count; i++) {
        if (stores[i].bytes > PIECE || written_of_accesses > MOST_OF_ACCESSES) continue;
        written_of_accesses += stores[i].bytes + 24;
        pgasrob_contents((const void *)stores[i].from, stores[i].bytes, PIECE);
    }
}
