/* Writing the trace: records into the log of this thread, and what the records name. */
#ifndef PGASROB_TRACE_H
#define PGASROB_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "real.h"
#include "format.h"

typedef uint64_t word;

/* Whether this process takes part in a recording: from the initialisation of the library to its end. */
extern bool pgasrob_begun;
/* Whether it still writes to the trace: until that is full. The ranks go on to agree on identities after that, which
 * is communication, of which all have to do the same. */
extern bool pgasrob_recording;

/* --- the process --- */

/* The library has been initialised: this process is `rank` of `ranks`. Takes up recording if PGASROB_TRACE names a
 * trace. */
void pgasrob_begin(enum api api, int rank, int ranks);
void pgasrob_end(void);
word pgasrob_number(void);
word pgasrob_fresh_identity(void);

/* --- calls --- */

/* Between enter and leave the calls that the library makes of itself are not recorded. False: this is one, or there
 * is no recording. Always to be followed by leave. */
#define pgasrob_enter() pgasrob_enter_from(FRAME)
bool pgasrob_enter_from(void *frame);
void pgasrob_leave(void);

#define WORDS(...) ((const word[]){__VA_ARGS__}), (sizeof((const word[]){__VA_ARGS__}) / sizeof(word))
#define HERE __builtin_return_address(0)
/* Where the frame of the caller ends: what lies below it is none of the program's. */
#define FRAME __builtin_dwarf_cfa()

void pgasrob_call(enum operation operation, unsigned flags, const char *function, const char *type, void *caller,
                  const word *operands, size_t count);
/* The same with a number that was taken earlier. */
void pgasrob_call_at(word number, enum operation operation, unsigned flags, const char *function, const char *type,
                     void *caller, const word *operands, size_t count);
void pgasrob_return(enum operation operation, const word *results, size_t count);
void pgasrob_not_known(const char *function, const char *why, void *caller);

/* Members as ranks of the world. */
void pgasrob_group(word group, const int *members, size_t count);

/* The first bytes of a source, at most 8. */
word pgasrob_value(const void *source, size_t bytes);

/* --- memory --- */

void pgasrob_region(enum region kind, const void *address, size_t bytes, word identity, int rank, word remote,
                    void *caller);
void pgasrob_end_of_region(enum region kind, const void *address, word identity);
/* The writable segments of the program, which are symmetric in OpenSHMEM. */
void pgasrob_static_regions(void);
/* A buffer of a pending operation to `rank`: recorded until the queue is completed. */
void pgasrob_buffer(word queue, int rank, const void *address, size_t bytes, void *caller);
/* Operations of the queue have completed: to `rank`, or -1 for all. */
void pgasrob_buffers_done(word queue, int rank);
/* The region of that kind at an address: its start, size and identity; false: none. */
bool pgasrob_find_region(enum region kind, const void *address, const char **start, size_t *bytes, word *identity);

/* What memory that an operation uses is called, and what it holds, for people: memory.c. */
void pgasrob_memory(const void *address, void *caller);
void pgasrob_contents(const void *address, size_t bytes, size_t most);
void pgasrob_private(const void *address, size_t bytes, void *caller);
enum { MOST_OF_REGION = 1 << 20, MOST_OF_CALL = 1024 };

/* --- for accesses.c and memory.c --- */

/* One of the accesses that a run is expected to repeat. */
struct expected { uintptr_t address; void *caller; intptr_t stride; struct expected *next; word first; };

struct log {
    word *next, *end;             /* where the next record goes */
    char *unfilled;               /* where the value of the last store goes, not known yet */
    word *unknown;                /* its first word, where it is to private memory: the value may be gone before it is filled */
    uintptr_t frame;              /* where the frame of the program begins that this was last called from */
    const char *stored;           /* where it stored */
    unsigned stored_log2;
    uint32_t thread, ordinal;     /* of the next chunk */
    char *batch;                  /* the mapped chunks: from here ... */
    size_t batch_bytes;
    unsigned batch_chunks;        /* the last batch's size in chunks */
    char *coming;                 /* the next chunk of the batch that is not begun */
    unsigned depth;               /* of calls into the library */
    bool begun;
    uint32_t strings, sites, modules;
    struct expected *expected;    /* the next access of the run that this thread is in; its caller NULL: in none */
    word *run;                    /* how many accesses it has, in its record; NULL: it has not begun */
};

extern __thread struct log pgasrob_log;
extern struct expected pgasrob_no_access;

/* Room for a record of so many words; NULL: nothing is recorded any more. The record counts once its first word is
 * set, by pgasrob_commit. */
word *pgasrob_room(size_t words);
static inline void pgasrob_commit(word *record, word first) { __atomic_store_n(record, first, __ATOMIC_RELEASE); }
static inline word pgasrob_first_word(unsigned kind, unsigned second, size_t words, uint32_t high) {
    return kind | second << 8 | (word)words << 16 | (word)high << 32;
}
uint32_t pgasrob_pc(void *address);
/* Where the program called, and before it the modules that it may lie in. */
uint32_t pgasrob_calling_pc(void *caller);
/* The values that a run left, when it is over. */
void pgasrob_run_is_over(word *run);
bool pgasrob_on_stack(uintptr_t address);

/* Whether an access may matter: which of 4096 pages are wholly in regions (2 * page) or in none (2 * page + 1). */
enum { PAGE_BITS = 12, PAGES = 4096 };
extern uintptr_t pgasrob_pages[PAGES];
/* Private memory that operations use lies within; it may be gone before the next record. */
extern uintptr_t pgasrob_buffers_from, pgasrob_buffers_to;
bool pgasrob_in_region(uintptr_t address, size_t bytes);

static inline void pgasrob_fill(struct log *log) {
    if (!log->unfilled) return;
    if (log->unknown) {
        word *first = log->unknown;
        log->unknown = NULL;
        if ((uintptr_t)log->stored < log->frame && pgasrob_on_stack((uintptr_t)log->stored)) {
            log->unfilled = NULL;
            return;
        }
        *first &= ~(word)(ACCESS_NO_VALUE << 8);
    }
    switch (log->stored_log2) {
    case 0: *(volatile uint8_t *)log->unfilled = *(const volatile uint8_t *)log->stored; break;
    case 1: __builtin_memcpy(log->unfilled, log->stored, 2); break;
    case 2: __builtin_memcpy(log->unfilled, log->stored, 4); break;
    case 3: __builtin_memcpy(log->unfilled, log->stored, 8); break;
    default: __builtin_memcpy(log->unfilled, log->stored, 16);
    }
    log->unfilled = NULL;
}

#endif
