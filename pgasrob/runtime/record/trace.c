/* The file, its chunks, and the records of calls and of what they name. FORMAT.md says what is written. */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

bool pgasrob_begun, pgasrob_recording;
struct expected pgasrob_no_access;
__thread struct log pgasrob_log = {.expected = &pgasrob_no_access};

static struct header *header;
static int file = -1;
static uint32_t own_rank, threads;
enum { MOST_BATCH = 16 };

/* --- the file --- */

static void complain(const char *what) {
    fprintf(stderr, "pgasrob: rank %u: %s; the rest of the run is not recorded\n", own_rank, what);
}

static void stop(const char *why, enum ended ended) {
    if (__atomic_exchange_n(&pgasrob_recording, false, __ATOMIC_SEQ_CST)) complain(why);
    if (header) __atomic_store_n(&header->ended, (uint32_t)ended, __ATOMIC_SEQ_CST);
}

/* The child of a fork has the log of its parent, and the same pages of the trace behind it. */
static void before_fork(void) {
    if (pgasrob_begun && !__atomic_fetch_add(&header->forks, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "pgasrob: rank %u forks: what the child process does is not recorded\n", own_rank);
}

static void in_child(void) {
    pgasrob_begun = pgasrob_recording = false;
    pgasrob_log = (struct log){.expected = &pgasrob_no_access};
}

static bool map_header(const char *path) {
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    void *mapped = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return false;
    header = mapped;
    return !memcmp(header->magic, PGASROB_MAGIC, sizeof header->magic) && header->version == PGASROB_VERSION;
}

void pgasrob_begin(enum api api, int rank, int ranks) {
    const char *path = getenv("PGASROB_TRACE");
    if (!path || !*path) return;
    own_rank = (uint32_t)rank;
    if (!header && !map_header(path)) {
        header = NULL;
        fprintf(stderr, "pgasrob: rank %d cannot write to %s: %s. All ranks have to be on the machine of "
                "`pgasrob record`. This rank is not recorded.\n", rank, path, strerror(errno));
        exit(1);
    }
    header->ranks = (uint32_t)ranks;
    static bool forks;
    if (!forks) pthread_atfork(before_fork, NULL, in_child), forks = true;
    __atomic_fetch_or(&header->api, (uint32_t)api, __ATOMIC_RELAXED);
    pgasrob_begun = pgasrob_recording = true;
}

word pgasrob_number(void) { return header ? __atomic_fetch_add(&header->clock, 1, __ATOMIC_SEQ_CST) : 0; }

word pgasrob_fresh_identity(void) { return header ? __atomic_fetch_add(&header->identities, 1, __ATOMIC_RELAXED) : 0; }

/* Room on the disk for a piece of the file: a page that has none is a SIGBUS where it is written. False: errno says why
 * there is none. */
static bool reserve(off_t offset, size_t bytes) {
    static const char zeros[4096];
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);  /* which a limit of the size of files sends */
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    int result;
    do result = fallocate(file, 0, offset, (off_t)bytes);
    while (result && errno == EINTR);
    if (result && (errno == EOPNOTSUPP || errno == ENOSYS))
        for (size_t done = result = 0; done < bytes && !result; done += sizeof zeros)
            result = pwrite(file, zeros, sizeof zeros, offset + (off_t)done) != sizeof zeros;
    int why = errno;
    while (result && sigtimedwait(&too_large, NULL, &(struct timespec){0}) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return !result;
}

/* More chunks for this log: twice as many as the last time, in one piece of the file. */
static bool take_chunks(struct log *log) {
    unsigned count = log->batch_chunks ? 2 * log->batch_chunks : 1;
    if (count > MOST_BATCH) count = MOST_BATCH;
    uint64_t first = __atomic_fetch_add(&header->chunks, count, __ATOMIC_SEQ_CST);
    if (first + count > header->limit) {
        stop("the trace is full (`pgasrob record --limit` allows more)", ENDED_FULL);
        return false;
    }
    off_t offset = (off_t)(HEADER_BYTES + first * header->chunk_bytes);
    size_t bytes = (size_t)count * header->chunk_bytes;
    void *mapped = MAP_FAILED;
    if (reserve(offset, bytes))
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset);
    if (mapped == MAP_FAILED) {
        char why[128];
        snprintf(why, sizeof why, "no room for the trace (%s)", strerror(errno));
        stop(why, ENDED_STOPPED);
        return false;
    }
    if (log->batch) munmap(log->batch, log->batch_bytes);
    log->batch = log->coming = mapped;
    log->batch_bytes = bytes;
    log->batch_chunks = count;
    return true;
}

static pthread_key_t logs;
static pthread_once_t logs_once = PTHREAD_ONCE_INIT;

/* At the end of a thread. */
static void close_log(void *of) {
    struct log *log = of;
    pgasrob_fill(log);
    log->expected = &pgasrob_no_access;
    log->next = log->end = NULL;
    if (log->batch) munmap(log->batch, log->batch_bytes);
    log->batch = log->coming = NULL;
    log->batch_bytes = 0;
}

static void make_logs(void) { pthread_key_create(&logs, close_log); }

static bool next_chunk(struct log *log) {
    if (!log->begun) {
        log->begun = true;
        pthread_once(&logs_once, make_logs);
        pthread_setspecific(logs, log);
        log->thread = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    }
    if (log->coming == log->batch + log->batch_bytes && !take_chunks(log)) return false;
    struct chunk *chunk = (struct chunk *)log->coming;
    log->coming += header->chunk_bytes;
    chunk->rank = own_rank;
    chunk->thread = log->thread;
    chunk->ordinal = log->ordinal++;
    log->next = chunk->words;
    log->end = (word *)log->coming;
    __atomic_store_n(&chunk->magic, PGASROB_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return true;
}

word *pgasrob_room(size_t words) {
    struct log *log = &pgasrob_log;
    pgasrob_fill(log);
    if (log->run) {
        word *run = log->run;
        log->run = NULL;
        pgasrob_run_is_over(run);
    }
    log->expected = &pgasrob_no_access;
    if (!pgasrob_recording) return NULL;
    if ((size_t)(log->end - log->next) < words || !log->next) {
        if (words * sizeof(word) > header->chunk_bytes - CHUNK_HEADER_BYTES) {
            stop("a call with more operands than fit into a trace", ENDED_STOPPED);
            return NULL;
        }
        if (!next_chunk(log)) return NULL;
    }
    word *record = log->next;
    log->next += words;
    return record;
}

void pgasrob_end(void) {
    word *record = pgasrob_recording ? pgasrob_room(2) : NULL;
    if (record) {
        record[1] = pgasrob_number();
        pgasrob_commit(record, KIND_END);
    }
    pgasrob_begun = pgasrob_recording = false;
}

/* --- strings, modules, places --- */

enum { STRINGS = 512 };
static __thread struct { const char *text; uint32_t id; } strings[STRINGS];

static uint32_t write_string(const char *text) {
    size_t bytes = strlen(text), words = 1 + (bytes + sizeof(word) - 1) / sizeof(word);
    word *record = pgasrob_room(words);
    if (!record) return 0;
    memcpy(record + 1, text, bytes);
    uint32_t id = ++pgasrob_log.strings;
    pgasrob_commit(record, pgasrob_first_word(KIND_STRING, 0, words, id));
    return id;
}

/* `text` has to stay where it is. */
static uint32_t string(const char *text) {
    if (!text || !*text) return 0;
    for (size_t i = 0; i < 8; i++) {
        size_t at = (((uintptr_t)text >> 2) * 31 + i) % STRINGS;
        if (strings[at].text == text) return strings[at].id;
        if (!strings[at].text) {
            strings[at].id = write_string(text);
            strings[at].text = text;
            return strings[at].id;
        }
    }
    return write_string(text);
}

/* The instrumented modules, the program first. Each tells of itself by pgasrob_module. */
enum { MODULES = 64 };
static struct { uintptr_t base, end; char path[512]; } modules[MODULES];
static unsigned module_count;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

struct sought { uintptr_t address, base, end; const char *path; };

static int note_module(struct dl_phdr_info *info, size_t size, void *into) {
    (void)size;
    struct sought *sought = into;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) continue;
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (from < low) low = from;
        if (from + segment->p_memsz > high) high = from + segment->p_memsz;
    }
    if (sought->address < low || sought->address >= high) return 0;
    sought->base = info->dlpi_addr;
    sought->end = high;
    sought->path = info->dlpi_name;
    return 1;
}

static void add_module(uintptr_t address) {
    struct sought sought = {.address = address};
    if (!dl_iterate_phdr(note_module, &sought)) return;
    pthread_mutex_lock(&modules_lock);
    bool known = false;
    for (unsigned i = 0; i < module_count; i++) known |= modules[i].base == sought.base;
    if (!known && module_count < MODULES) {
        char *path = modules[module_count].path;
        if (*sought.path) snprintf(path, sizeof modules[0].path, "%s", sought.path);
        else if (readlink("/proc/self/exe", path, sizeof modules[0].path - 1) < 0) *path = 0;
        modules[module_count].base = sought.base;
        modules[module_count].end = sought.end;
        __atomic_store_n(&module_count, module_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&modules_lock);
}

/* Offsets count from the load address, which is 0 for a program that is not position-independent. The program itself
 * is the first: GCC has this called before everything else. */
void __tsan_init(void);
void __tsan_init(void) { add_module((uintptr_t)&__tsan_init); }

void pgasrob_module(const void *within) {
    __tsan_init();
    add_module((uintptr_t)within);
}

static int module_of(uintptr_t address) {
    for (unsigned i = 0; i < __atomic_load_n(&module_count, __ATOMIC_ACQUIRE); i++)
        if (address >= modules[i].base && address < modules[i].end) return (int)i;
    return -1;
}

/* Once per log, before the first record that may name them. */
static void write_modules(void) {
    struct log *log = &pgasrob_log;
    while (log->modules < module_count) {
        uint32_t path = string(modules[log->modules].path);
        word *record = pgasrob_room(4);
        if (!record) return;
        record[1] = modules[log->modules].base;
        record[2] = modules[log->modules].end - modules[log->modules].base;
        record[3] = path;
        pgasrob_commit(record, pgasrob_first_word(KIND_MODULE, 0, 4, log->modules++));
    }
}

enum { SITES = 1024 };
static __thread struct { uintptr_t address; uint32_t id; } sites[SITES];

static uint32_t site(uintptr_t address, int module) {
    size_t at = (address * 2654435761u >> 8) % SITES;
    if (sites[at].address == address) return sites[at].id;
    write_modules();
    word *record = pgasrob_room(3);
    if (!record) return 0;
    uint32_t id = pgasrob_log.sites++;
    record[1] = (word)module;
    record[2] = address - modules[module].base;
    pgasrob_commit(record, pgasrob_first_word(KIND_SITE, 0, 3, id));
    sites[at].address = address;
    return sites[at].id = 1u << 31 | id;
}

uint32_t pgasrob_pc(void *returns_to) {
    uintptr_t address = (uintptr_t)returns_to - 1;
    if (address - modules[0].base < modules[0].end - modules[0].base && address - modules[0].base < 1u << 31)
        return (uint32_t)(address - modules[0].base);
    int module = module_of(address);
    return module < 0 ? 0 : site(address, module);
}

struct walk { void *caller, *found; bool passed; };

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *into) {
    struct walk *walk = into;
    uintptr_t address = _Unwind_GetIP(context);
    walk->passed |= (void *)address == walk->caller;
    if (!walk->passed || module_of(address - 1) < 0) return _URC_NO_REASON;
    walk->found = (void *)address;
    return _URC_END_OF_STACK;
}

/* Where the program called: the caller itself or, where that is a library (the MPI binding of Fortran), its caller.
 * The frames below the caller are this runtime's, which lie in the program, too. */
static uint32_t calling_pc(void *caller) {
    if (!caller) return 0;
    if (module_of((uintptr_t)caller - 1) >= 0) return pgasrob_pc(caller);
    struct walk walk = {caller, NULL, false};
    _Unwind_Backtrace(step, &walk);
    return walk.found ? pgasrob_pc(walk.found) : 0;
}

uint32_t pgasrob_calling_pc(void *caller) {
    write_modules();
    return calling_pc(caller);
}

/* --- calls --- */

bool pgasrob_enter_from(void *frame) {
    if (pgasrob_log.depth++) return false;
    pgasrob_log.frame = (uintptr_t)frame;
    return pgasrob_begun;
}

void pgasrob_leave(void) { pgasrob_log.depth--; }

static void write_call(word number, enum operation operation, unsigned flags, const char *function, const char *type,
                       void *caller, const word *operands, size_t count) {
    write_modules();
    word names = string(function) | (word)string(type) << 32;
    uint32_t pc = calling_pc(caller);
    word *record = pgasrob_room(3 + count);
    if (!record) return;
    record[1] = number | (word)flags << 48;
    record[2] = names;
    memcpy(record + 3, operands, count * sizeof *operands);
    pgasrob_commit(record, pgasrob_first_word(KIND_CALL, operation, 3 + count, pc));
}

static void write_return(enum operation operation, const word *results, size_t count) {
    word *record = pgasrob_room(2 + count);
    if (!record) return;
    record[1] = pgasrob_number();
    memcpy(record + 2, results, count * sizeof *results);
    pgasrob_commit(record, pgasrob_first_word(KIND_RETURN, operation, 2 + count, 0));
}

/* A test is written when it has returned: in a polling loop one that fails as the one before did, with nothing
 * written in between, is left out. */
enum { MOST_OPERANDS = 8, MOST_RESULTS = 4 };

struct test {
    enum operation operation;
    void *caller;
    word operands[MOST_OPERANDS], results[MOST_RESULTS];
};

static __thread struct {
    struct test now, last;
    const word *after_last;  /* where the log stood after the last one; NULL: that did not fail */
    word number;
    unsigned flags;
    const char *function, *type;
    size_t operands;
    bool open;
} tests;

static bool is_test(enum operation operation, const word *operands, size_t count) {
    if (count > MOST_OPERANDS) return false;
    switch (operation) {
    case OP_TEST: case OP_TEST_LOCK: case OP_TEST_EXPOSURE: return true;
    case OP_PROBE: return !operands[3];
    case OP_COMPLETE_REQUESTS: return !operands[1];
    default: return false;
    }
}

static bool fails(enum operation operation, const word *results, size_t count) {
    return operation == OP_COMPLETE_REQUESTS ? !count : operation == OP_TEST_LOCK ? results[0] != 0 : !results[0];
}

/* What the call that this thread is in brings to it. */
static __thread struct { const void *to; size_t bytes; } arriving;

static void note_arriving(enum operation operation, unsigned flags, const word *operands) {
    arriving.to = NULL;
    if (flags & CALL_REQUEST) return;
    if (operation == OP_RECEIVE) arriving.to = (const void *)operands[3], arriving.bytes = operands[4];
    if (operation != OP_COLLECTIVE || operands[4] + 1 < 2 || operands[7] == UINT64_MAX) return;
    arriving.to = (const void *)operands[4], arriving.bytes = operands[6] * operands[7];
}

static void write_arrived(void) {
    if (arriving.to && arriving.bytes && pgasrob_in_region((uintptr_t)arriving.to, arriving.bytes))
        pgasrob_contents(arriving.to, arriving.bytes, MOST_OF_CALL);
    arriving.to = NULL;
}

void pgasrob_call_at(word number, enum operation operation, unsigned flags, const char *function, const char *type,
                     void *caller, const word *operands, size_t count) {
    if (!is_test(operation, operands, count)) {
        note_arriving(operation, flags, operands);
        write_call(number, operation, flags, function, type, caller, operands, count);
        return;
    }
    memset(&tests.now, 0, sizeof tests.now);  /* compared as bytes */
    tests.now.operation = operation;
    tests.now.caller = caller;
    memcpy(tests.now.operands, operands, count * sizeof *operands);
    tests.operands = count;
    tests.number = number;
    tests.flags = flags;
    tests.function = function;
    tests.type = type;
    tests.open = true;
}

void pgasrob_call(enum operation operation, unsigned flags, const char *function, const char *type, void *caller,
                  const word *operands, size_t count) {
    pgasrob_call_at(pgasrob_number(), operation, flags, function, type, caller, operands, count);
}

void pgasrob_return(enum operation operation, const word *results, size_t count) {
    if (!tests.open) {
        write_arrived();
        write_return(operation, results, count);
        return;
    }
    tests.open = false;
    bool failed = count <= MOST_RESULTS && fails(operation, results, count);
    if (failed) memcpy(tests.now.results, results, count * sizeof *results);
    if (failed && tests.after_last == pgasrob_log.next && !memcmp(&tests.now, &tests.last, sizeof tests.now)) return;
    write_call(tests.number, operation, tests.flags, tests.function, tests.type, tests.now.caller, tests.now.operands,
               tests.operands);
    write_return(operation, results, count);
    tests.last = tests.now;
    tests.after_last = failed ? pgasrob_log.next : NULL;
}

void pgasrob_not_known(const char *function, const char *why, void *caller) {
    pgasrob_call(OP_NOT_KNOWN, 0, function, why, caller, NULL, 0);
}

void pgasrob_group(word group, const int *members, size_t count) {
    size_t words = 2 + (count + 1) / 2;
    word *record = pgasrob_room(words);
    if (!record) return;
    record[1] = group;
    memcpy(record + 2, members, count * sizeof *members);
    pgasrob_commit(record, pgasrob_first_word(KIND_GROUP, 0, words, (uint32_t)count));
}

word pgasrob_value(const void *source, size_t bytes) {
    word value = 0;
    if (source) memcpy(&value, source, bytes < sizeof value ? bytes : sizeof value);
    return value;
}

/* --- regions --- */

struct region_entry { enum region kind; uintptr_t from, to; word id, identity; int rank; };

static struct region_entry *regions;
static size_t region_count, region_room;
static word region_ids;
static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
uintptr_t pgasrob_pages[PAGES], pgasrob_buffers_from, pgasrob_buffers_to;

static void forget_pages(uintptr_t from, uintptr_t to) {
    uintptr_t first = from >> PAGE_BITS, last = (to - 1) >> PAGE_BITS;
    if (last - first >= PAGES) {
        for (size_t i = 0; i < PAGES; i++) __atomic_store_n(&pgasrob_pages[i], 0, __ATOMIC_RELAXED);
        return;
    }
    for (uintptr_t page = first; page <= last; page++)
        __atomic_store_n(&pgasrob_pages[page % PAGES], 0, __ATOMIC_RELAXED);
}

bool pgasrob_in_region(uintptr_t address, size_t bytes) {
    if (!pgasrob_recording) return false;
    uintptr_t page = address >> PAGE_BITS, low = page << PAGE_BITS, high = low + (1u << PAGE_BITS);
    bool within = false, touched = false, covered = false;
    pthread_mutex_lock(&regions_lock);
    for (size_t i = 0; i < region_count && !covered; i++) {
        within |= address < regions[i].to && address + bytes > regions[i].from;
        touched |= low < regions[i].to && high > regions[i].from;
        covered = low >= regions[i].from && high <= regions[i].to;
    }
    if (covered || !touched) __atomic_store_n(&pgasrob_pages[page % PAGES], 2 * page + !covered, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&regions_lock);
    return within || covered;
}

void pgasrob_region(enum region kind, const void *address, size_t bytes, word identity, int rank, word remote,
                    void *caller) {
    if (!address || !bytes) return;
    pthread_mutex_lock(&regions_lock);
    if (region_count == region_room) {
        region_room = region_room ? 2 * region_room : 64;
        regions = realloc(regions, region_room * sizeof *regions);
        if (!regions) abort();
    }
    struct region_entry entry = {kind, (uintptr_t)address, (uintptr_t)address + bytes, region_ids++, identity, rank};
    regions[region_count++] = entry;
    forget_pages(entry.from, entry.to);
    if (kind == REGION_BUFFER) {
        bool first = pgasrob_buffers_from == pgasrob_buffers_to;
        if (first || entry.from < pgasrob_buffers_from) pgasrob_buffers_from = entry.from;
        if (first || entry.to > pgasrob_buffers_to) pgasrob_buffers_to = entry.to;
    }
    pthread_mutex_unlock(&regions_lock);
    uint32_t pc = pgasrob_calling_pc(caller);
    word *record = pgasrob_room(7);
    if (!record) return;
    const word words[] = {entry.id, entry.from, bytes, identity, (word)(int64_t)rank, remote};
    memcpy(record + 1, words, sizeof words);
    pgasrob_commit(record, pgasrob_first_word(KIND_REGION, kind, 7, pc));
    if (kind == REGION_VIEW) return;
    if (kind != REGION_STATIC) pgasrob_memory(address, caller);
    pgasrob_contents(address, bytes, kind == REGION_BUFFER ? MOST_OF_CALL : MOST_OF_REGION);
}

/* The regions that `which` is true for end. */
static void end_regions(bool (*which)(const struct region_entry *, const struct region_entry *),
                        const struct region_entry *like) {
    for (;;) {
        struct region_entry found = {0};
        bool any = false;
        pthread_mutex_lock(&regions_lock);
        for (size_t i = 0; i < region_count && !any; i++) {
            if (!which(&regions[i], like)) continue;
            found = regions[i];
            regions[i] = regions[--region_count];
            forget_pages(found.from, found.to);
            any = true;
        }
        bool buffers = false;
        for (size_t i = 0; i < region_count; i++) buffers |= regions[i].kind == REGION_BUFFER;
        if (!buffers) pgasrob_buffers_from = pgasrob_buffers_to = 0;
        pthread_mutex_unlock(&regions_lock);
        if (!any) return;
        word *record = pgasrob_room(2);
        if (!record) continue;
        record[1] = found.id;
        pgasrob_commit(record, pgasrob_first_word(KIND_END_OF_REGION, found.kind, 2, 0));
    }
}

static bool same(const struct region_entry *region, const struct region_entry *like) {
    return region->kind == like->kind && (!like->from || region->from == like->from)
        && (like->identity == UINT64_MAX || region->identity == like->identity);
}

void pgasrob_end_of_region(enum region kind, const void *address, word identity) {
    end_regions(same, &(struct region_entry){.kind = kind, .from = (uintptr_t)address, .identity = identity});
}

static bool done(const struct region_entry *region, const struct region_entry *like) {
    return region->kind == REGION_BUFFER && region->identity == like->identity
        && (like->rank < 0 || region->rank == like->rank);
}

void pgasrob_buffers_done(word queue, int rank) {
    end_regions(done, &(struct region_entry){.identity = queue, .rank = rank});
}

void pgasrob_buffer(word queue, int rank, const void *address, size_t bytes, void *caller) {
    uintptr_t from = (uintptr_t)address, to = from + bytes;
    bool known = !address || !bytes;
    pthread_mutex_lock(&regions_lock);
    for (size_t i = 0; i < region_count && !known; i++)
        known = regions[i].from <= from && to <= regions[i].to
            && (regions[i].kind != REGION_BUFFER || (regions[i].identity == queue && regions[i].rank == rank));
    pthread_mutex_unlock(&regions_lock);
    if (!known) pgasrob_region(REGION_BUFFER, address, bytes, queue, rank, 0, caller);
}

bool pgasrob_find_region(enum region kind, const void *address, const char **start, size_t *bytes, word *identity) {
    bool found = false;
    pthread_mutex_lock(&regions_lock);
    for (size_t i = 0; i < region_count && !found; i++) {
        if (regions[i].kind != kind || (uintptr_t)address < regions[i].from || (uintptr_t)address >= regions[i].to)
            continue;
        *start = (const char *)regions[i].from;
        *bytes = regions[i].to - regions[i].from;
        *identity = regions[i].identity;
        found = true;
    }
    pthread_mutex_unlock(&regions_lock);
    return found;
}

static int add_static(struct dl_phdr_info *info, size_t size, void *into) {
    (void)size, (void)into;
    int module = -1;
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].base == info->dlpi_addr) module = (int)i;
    for (int i = 0; module >= 0 && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
            pgasrob_region(REGION_STATIC, (char *)info->dlpi_addr + segment->p_vaddr, segment->p_memsz, (word)module,
                           -1, 0, NULL);
    }
    return 0;
}

void pgasrob_static_regions(void) { dl_iterate_phdr(add_static, NULL); }
