/* The loads and stores of the program: what `-fsanitize=thread` calls before each, in the place of the sanitizer's
 * own. */
#include "trace.h"

#include <string.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Most accesses end here: to pages that lie wholly in regions or in none. */
static inline __attribute__((always_inline)) bool matters(uintptr_t address, size_t bytes) {
    uintptr_t page = address >> PAGE_BITS, known = __atomic_load_n(&pgasrob_pages[page % PAGES], __ATOMIC_RELAXED);
    if (likely(known >> 1 == page)) return !(known & 1);
    return pgasrob_in_region(address, bytes);
}

/* --- runs: a loop repeats the accesses of its body, each with a stride of its own --- */

enum { MOST_PERIOD = 64, CALLERS = 256 };

struct past { void *caller; uintptr_t address; word first; intptr_t stride; };

static __thread struct {
    unsigned long now;                                                   /* how many accesses there were */
    struct { void *caller; unsigned long when; } last[CALLERS];          /* of each place in the program, by a hash */
    struct past past[MOST_PERIOD];
    unsigned period, streak;                                             /* so many came a period after the last */
    struct expected body[MOST_PERIOD];
} loops;

/* Notes an access that is in no run. Once each place of a loop has been passed twice, its third round is expected. */
static void look_for_loop(struct log *log, uintptr_t address, void *caller, word first) {
    unsigned at = ((uintptr_t)caller * 2654435761u >> 16) % CALLERS;
    unsigned long now = loops.now++, before = now - loops.last[at].when;
    bool seen = loops.last[at].caller == caller && before <= MOST_PERIOD;
    struct past *past = &loops.past[now % MOST_PERIOD];
    intptr_t stride = seen ? (intptr_t)(address - loops.past[loops.last[at].when % MOST_PERIOD].address) : 0;
    loops.last[at].caller = caller;
    loops.last[at].when = now;
    *past = (struct past){caller, address, first, stride};
    if (!seen || stride != (int32_t)stride) {
        loops.period = 0;
        return;
    }
    if (before != loops.period) loops.period = (unsigned)before, loops.streak = 0;
    if (++loops.streak < loops.period) return;
    loops.streak = 0;
    for (unsigned i = 0; i < loops.period; i++) {
        const struct past *round = &loops.past[(now + 1 - loops.period + i) % MOST_PERIOD];
        loops.body[i] = (struct expected){round->address + (uintptr_t)round->stride, round->caller, round->stride,
                                          &loops.body[(i + 1) % loops.period], round->first};
    }
    log->run = NULL;
    log->expected = loops.body;
}

/* The record of the run that is expected, when the first access of it has happened. */
static __attribute__((noinline)) bool begin_run(struct log *log) {
    size_t words = 2 + 2 * loops.period;
    word *record = pgasrob_room(words);
    if (!record) return false;
    for (unsigned i = 0; i < loops.period; i++) {
        const struct expected *entry = &loops.body[i];
        record[2 + 2 * i] = entry->first | entry->address << 16;
        record[3 + 2 * i] = pgasrob_pc(entry->caller) | (word)(uint32_t)entry->stride << 32;
    }
    log->run = record + 1;
    log->expected = loops.body;
    pgasrob_commit(record, KIND_RUN | (word)loops.period << 8 | (word)words << 16);
    return true;
}

static __attribute__((noinline)) void record_one(enum kind kind, unsigned log2, unsigned flags, uintptr_t address,
                                                 void *caller, void *frame) {
    struct log *log = &pgasrob_log;
    if (!pgasrob_recording) return;
    log->frame = (uintptr_t)frame;
    word pc = pgasrob_pc(caller), first = kind | (word)(log2 | flags) << 8;
    word *record = pgasrob_room(2 + (log2 == 3) + 2 * (log2 == 4));
    if (!record) return;
    record[1] = pc;
    log->stored = (const char *)address;
    log->stored_log2 = log2;
    log->unfilled = log2 < 3 ? (char *)(record + 1) + 4 : (char *)(record + 2);
    word head = first;
    if (kind == KIND_LOAD) {
        pgasrob_fill(log);
    } else if (address >= pgasrob_buffers_from && address < pgasrob_buffers_to) {
        head |= ACCESS_NO_VALUE << 8;
        log->unknown = record;
    }
    pgasrob_commit(record, head | address << 16);
    if (!flags) look_for_loop(log, address, caller, first);
}

static inline __attribute__((always_inline)) void record(enum kind kind, unsigned log2, unsigned flags,
                                                         const volatile void *at, void *caller, void *frame) {
    uintptr_t address = (uintptr_t)at;
    struct log *log = &pgasrob_log;
    struct expected *expected = log->expected;
    if (expected->address == address && expected->caller == caller) {
        if (unlikely(!log->run) && !begin_run(log)) return;
        ++*log->run;
        expected->address += (uintptr_t)expected->stride;
        log->expected = expected->next;
        return;
    }
    if (matters(address, 1u << log2)) record_one(kind, log2, flags, address, caller, frame);
}

static bool record_range(enum kind kind, const void *at, size_t bytes, void *caller) {
    if (!bytes || !pgasrob_recording || !pgasrob_in_region((uintptr_t)at, bytes)) return false;
    word pc = pgasrob_pc(caller), *record = pgasrob_room(3);
    if (!record) return false;
    record[1] = pc;
    record[2] = bytes;
    pgasrob_commit(record, kind | (uintptr_t)at << 16);
    return true;
}

#define PLAIN(bits_8, log2) \
    void __tsan_read##bits_8(void *at) { record(KIND_LOAD, log2, 0, at, HERE, FRAME); } \
    void __tsan_write##bits_8(void *at) { record(KIND_STORE, log2, 0, at, HERE, FRAME); } \
    void __tsan_volatile_read##bits_8(void *at) { record(KIND_LOAD, log2, ACCESS_VOLATILE, at, HERE, FRAME); } \
    void __tsan_volatile_write##bits_8(void *at) { record(KIND_STORE, log2, ACCESS_VOLATILE, at, HERE, FRAME); } \
    void __tsan_read_write##bits_8(void *at) { \
        record(KIND_LOAD, log2, 0, at, HERE, FRAME); \
        record(KIND_STORE, log2, 0, at, HERE, FRAME); \
    }

/* An access that may cross a border of pages. */
#define UNALIGNED(bytes, log2) \
    static void unaligned##bytes(enum kind kind, unsigned flags, void *at, void *caller, void *frame) { \
        uintptr_t last = (uintptr_t)at + bytes - 1; \
        if (last >> PAGE_BITS == (uintptr_t)at >> PAGE_BITS) record(kind, log2, flags, at, caller, frame); \
        else record_range(kind == KIND_LOAD ? KIND_LOAD_RANGE : KIND_STORE_RANGE, at, bytes, caller); \
    } \
    void __tsan_unaligned_read##bytes(void *at) { unaligned##bytes(KIND_LOAD, 0, at, HERE, FRAME); } \
    void __tsan_unaligned_write##bytes(void *at) { unaligned##bytes(KIND_STORE, 0, at, HERE, FRAME); } \
    void __tsan_unaligned_volatile_read##bytes(void *at) { unaligned##bytes(KIND_LOAD, ACCESS_VOLATILE, at, HERE, FRAME); } \
    void __tsan_unaligned_volatile_write##bytes(void *at) { unaligned##bytes(KIND_STORE, ACCESS_VOLATILE, at, HERE, FRAME); }

PLAIN(1, 0)
PLAIN(2, 1)
PLAIN(4, 2)
PLAIN(8, 3)
PLAIN(16, 4)
UNALIGNED(2, 1)
UNALIGNED(4, 2)
UNALIGNED(8, 3)
UNALIGNED(16, 4)

void __tsan_read_range(void *at, size_t bytes) { record_range(KIND_LOAD_RANGE, at, bytes, HERE); }
void __tsan_write_range(void *at, size_t bytes) { record_range(KIND_STORE_RANGE, at, bytes, HERE); }
void __tsan_vptr_read(void *at) { record(KIND_LOAD, 3, 0, at, HERE, FRAME); }
void __tsan_vptr_update(void *at, void *value) {
    (void)value;
    record(KIND_STORE, 3, 0, at, HERE, FRAME);
}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

/* --- atomics of C11, C++ and OpenMP, done here and as strictly as can be --- */

static void record_atomic(enum kind kind, unsigned log2, const volatile void *at, enum update update, word operand,
                          word expected, word before, word after, void *caller) {
    if (!matters((uintptr_t)at, 1u << log2) || !pgasrob_recording) return;
    word pc = pgasrob_pc(caller);
    word first = kind | (word)(log2 | ACCESS_ATOMIC) << 8 | (uintptr_t)at << 16;
    size_t words = kind == KIND_UPDATE ? 6 : 2 + (log2 == 3) + 2 * (log2 == 4);
    word *record = pgasrob_room(words);
    if (!record) return;
    record[1] = pc;
    if (kind == KIND_UPDATE) {
        const word rest[] = {operand, expected, before, after};
        record[1] |= (word)update << 32;
        memcpy(record + 2, rest, sizeof rest);
    } else if (log2 < 3) {
        record[1] |= after << 32;
    } else {
        record[2] = after;
    }
    pgasrob_commit(record, first);
}

#define UPDATE(bits, log2, T, U, name, update, after) \
    T __tsan_atomic##bits##_##name(volatile T *at, T operand, int order) { \
        (void)order; \
        T before = __atomic_##name(at, operand, __ATOMIC_SEQ_CST); \
        record_atomic(KIND_UPDATE, log2, at, update, (U)operand, 0, (U)before, (U)(T)(after), HERE); \
        return before; \
    }

#define __atomic_exchange __atomic_exchange_n

#define ATOMICS(bits, log2, T, U) \
    T __tsan_atomic##bits##_load(const volatile T *at, int order) { \
        (void)order; \
        T value = __atomic_load_n(at, __ATOMIC_SEQ_CST); \
        record_atomic(KIND_LOAD, log2, at, UPDATE_NONE, 0, 0, 0, (U)value, HERE); \
        return value; \
    } \
    void __tsan_atomic##bits##_store(volatile T *at, T value, int order) { \
        (void)order; \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST); \
        record_atomic(KIND_STORE, log2, at, UPDATE_NONE, 0, 0, 0, (U)value, HERE); \
    } \
    UPDATE(bits, log2, T, U, exchange, UPDATE_SET, operand) \
    UPDATE(bits, log2, T, U, fetch_add, UPDATE_ADD, before + operand) \
    UPDATE(bits, log2, T, U, fetch_sub, UPDATE_SUBTRACT, before - operand) \
    UPDATE(bits, log2, T, U, fetch_and, UPDATE_AND, before & operand) \
    UPDATE(bits, log2, T, U, fetch_or, UPDATE_OR, before | operand) \
    UPDATE(bits, log2, T, U, fetch_xor, UPDATE_XOR, before ^ operand) \
    UPDATE(bits, log2, T, U, fetch_nand, UPDATE_NAND, ~(before & operand)) \
    static bool exchange_if##bits(volatile T *at, T *expected, T value, void *caller) { \
        T wanted = *expected; \
        bool done = __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        record_atomic(KIND_UPDATE, log2, at, UPDATE_COMPARE_SWAP, (U)value, (U)wanted, (U)*expected, \
                      (U)(done ? value : *expected), caller); \
        return done; \
    } \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile T *at, T *expected, T value, int order, int failing) { \
        (void)order, (void)failing; \
        return exchange_if##bits(at, expected, value, HERE); \
    } \
    bool __tsan_atomic##bits##_compare_exchange_weak(volatile T *at, T *expected, T value, int order, int failing) { \
        (void)order, (void)failing; \
        return exchange_if##bits(at, expected, value, HERE); \
    } \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *at, T expected, T value, int order, int failing) { \
        (void)order, (void)failing; \
        exchange_if##bits(at, &expected, value, HERE); \
        return expected; \
    }

ATOMICS(8, 0, char, uint8_t)
ATOMICS(16, 1, short, uint16_t)
ATOMICS(32, 2, int, uint32_t)
ATOMICS(64, 3, long, uint64_t)

void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* --- what the program has the C library do to memory: linked with --wrap --- */

#define WRAPPED(result, name, ...) \
    result __real_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__)

static bool copied(void *to, const void *from, size_t bytes, void *caller) {
    record_range(KIND_LOAD_RANGE, from, bytes, caller);
    return record_range(KIND_STORE_RANGE, to, bytes, caller);
}

/* What a range holds after the store that was just recorded. */
static void *stored(bool recorded, void *to, size_t bytes) {
    if (recorded) pgasrob_contents(to, bytes, MOST_OF_CALL);
    return to;
}

WRAPPED(void *, memcpy, void *to, const void *from, size_t bytes) {
    bool recorded = copied(to, from, bytes, HERE);
    return stored(recorded, __real_memcpy(to, from, bytes), bytes);
}
WRAPPED(void *, memmove, void *to, const void *from, size_t bytes) {
    bool recorded = copied(to, from, bytes, HERE);
    return stored(recorded, __real_memmove(to, from, bytes), bytes);
}
WRAPPED(void *, memset, void *to, int value, size_t bytes) {
    bool recorded = record_range(KIND_STORE_RANGE, to, bytes, HERE);
    return stored(recorded, __real_memset(to, value, bytes), bytes);
}
WRAPPED(int, memcmp, const void *one, const void *other, size_t bytes) {
    record_range(KIND_LOAD_RANGE, one, bytes, HERE);
    record_range(KIND_LOAD_RANGE, other, bytes, HERE);
    return __real_memcmp(one, other, bytes);
}
WRAPPED(size_t, strlen, const char *text) {
    size_t length = __real_strlen(text);
    record_range(KIND_LOAD_RANGE, text, length + 1, HERE);
    return length;
}
WRAPPED(char *, strcpy, char *to, const char *from) {
    size_t bytes = __real_strlen(from) + 1;
    bool recorded = copied(to, from, bytes, HERE);
    return stored(recorded, __real_strcpy(to, from), bytes);
}
WRAPPED(char *, strncpy, char *to, const char *from, size_t most) {
    size_t length = strnlen(from, most);
    record_range(KIND_LOAD_RANGE, from, length < most ? length + 1 : most, HERE);
    bool recorded = record_range(KIND_STORE_RANGE, to, most, HERE);
    return stored(recorded, __real_strncpy(to, from, most), most);
}
