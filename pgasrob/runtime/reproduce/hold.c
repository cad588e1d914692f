#define _GNU_SOURCE
#include "hold.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* An entry of the schedule of this rank. P: a statement is executed. C: a function of the library is called; when
 * `action` is not 0, its operations are held back until the entries of their steps. S: a step of an operation. */
struct entry {
    char kind;
    int turn, statement, call, element, action;
    char name[72];
};

enum mode { OFF, WATCH, FOLLOW, HOLD };

/* What all ranks share: whose turn it is; where each rank is. */
struct control {
    _Atomic int turn;
    _Atomic int abandoned;
    _Atomic int arrivals[4096];
};

enum { MOST_CELLS = 256, MOST_NESTED = 1024 };
static const double LONG = 0.03, SHORT = 0.002, LINGER = 0.01;
enum { MANY = 100 };

int pgasrob_inside;

static enum mode mode;
static int me = -1, ranks, entries, cursor, total;
static struct entry *schedule, *open_statement;
static struct control *control;
static struct operation *queue, *kept;
static int stack[MOST_NESTED], depth;
static int newest_first = 1, released;
static double waits_for = 5, quiet_since;
static FILE *seen;
static void (*progress)(void);
static struct { const volatile void *value; unsigned long bytes; int given; } cells[MOST_CELLS];
static struct { const void *place; int fences; } fences[64];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void failed(const char *what) {
    fprintf(stderr, "pgasrob: %s\n", what);
    exit(3);
}

static void tell(const char *what, int number, const volatile void *value, unsigned long bytes) {
    if (!seen) return;
    fprintf(seen, "%s %d ", what, number);
    for (unsigned long i = 0; i < bytes; i++) fprintf(seen, "%02x", ((const volatile unsigned char *)value)[i]);
    fprintf(seen, "\n");
    fflush(seen);
}

static void read_schedule(const char *path) {
    FILE *file = fopen(path, "r");
    struct entry entry;
    int rank, room = 0;
    if (!file) failed("cannot read the schedule");
    while (fscanf(file, "%d %c %d %d %d %d %d %71s", &rank, &entry.kind, &entry.turn, &entry.statement, &entry.call,
                  &entry.element, &entry.action, entry.name) == 8) {
        if (entry.turn >= total) total = entry.turn + 1;
        if (rank != me) continue;
        if (entries == room) schedule = realloc(schedule, (room = 2 * room + 64) * sizeof entry);
        schedule[entries++] = entry;
    }
    fclose(file);
}

void pgasrob_start(int rank, int count) {
    const char *name = getenv("PGASROB_MODE"), *limit = getenv("PGASROB_PATIENCE");
    char path[4096];
    int file;
    me = rank;
    ranks = count;
    mode = !name ? OFF : !strcmp(name, "watch") ? WATCH : !strcmp(name, "follow") ? FOLLOW
         : !strcmp(name, "hold") ? HOLD : OFF;
    if (mode == OFF) return;
    if (limit) waits_for = atof(limit);
    if (getenv("PGASROB_OLDEST_FIRST")) newest_first = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    progress = (void (*)(void))dlsym(RTLD_DEFAULT, "opal_progress");
    snprintf(path, sizeof path, "%s/seen.%d", getenv("PGASROB_FOLDER"), rank);
    seen = fopen(path, "w");
    snprintf(path, sizeof path, "%s/control", getenv("PGASROB_FOLDER"));
    file = open(path, O_RDWR);
    if (!seen || file < 0) failed("cannot open the files of this run");
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (control == MAP_FAILED) failed("cannot share memory with the other ranks");
    snprintf(path, sizeof path, "%s/schedule", getenv("PGASROB_FOLDER"));
    if (mode != HOLD) read_schedule(path);
    quiet_since = now();
}

/* --- operations ------------------------------------------------------------------------------------------------- */

static void do_step(struct operation *operation, int step);

static void read_sources(struct operation *operation) {
    for (int i = 0; i < 2; i++)
        if (operation->source[i].bytes) memcpy(operation->source[i].to, operation->source[i].from, operation->source[i].bytes);
}

static int overlap(const struct operation *one, const struct operation *other) {
    return one->location < other->location + other->extent && other->location < one->location + one->extent;
}

static int goes_first(const struct operation *earlier, const struct operation *later) {
    if (earlier->place != later->place) return 0;
    if (later->last) return 1;
    if (earlier->target != later->target) return 0;
    if (earlier->fenced && later->fenced && earlier->epoch < later->epoch) return 1;
    return earlier->located && later->located && overlap(earlier, later);
}

static void do_step(struct operation *operation, int step) {
    if (operation->done & step || !(operation->steps & step)) return;
    if (step == DELIVER) do_step(operation, PERFORM);
    if (step == PERFORM) {
        do_step(operation, READ_SOURCE);
        for (struct operation *earlier = queue; earlier && earlier != operation; earlier = earlier->next)
            if (goes_first(earlier, operation)) do_step(earlier, PERFORM);
    }
    pgasrob_inside++;
    switch (step) {
    case READ_SOURCE: read_sources(operation); break;
    case PERFORM: operation->perform(operation);
        if (mode == FOLLOW || mode == HOLD) pgasrob_flush(operation);
        break;
    case DELIVER: memcpy(operation->result.to, operation->result.from, operation->result.bytes); break;
    }
    pgasrob_inside--;
    operation->done |= step;
}

static void forget(struct operation *operation) {
    for (int i = 0; i < 2; i++) free(operation->source[i].to);
    free((void *)operation->result.from);
    free(operation);
}

void pgasrob_forget(const void *place) {
    for (struct operation **link = &kept; *link;) {
        struct operation *operation = *link;
        if (operation->place != place) {
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        forget(operation);
    }
}

static int is_first(const struct operation *operation) {
    for (const struct operation *earlier = queue; earlier != operation; earlier = earlier->next)
        if (earlier->place == operation->place) return 0;
    return 1;
}

static void drop_finished(void) {
    for (struct operation **link = &queue; *link;) {
        struct operation *operation = *link;
        if (operation->last && is_first(operation)) do_step(operation, PERFORM);
        if (operation->steps & ~operation->done) {
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        if (operation->keep) {
            operation->next = kept;
            kept = operation;
        } else {
            forget(operation);
        }
    }
}

static void finish(struct operation *operation) {
    do_step(operation, READ_SOURCE);
    do_step(operation, PERFORM);
    do_step(operation, DELIVER);
}

static void release_all(void) {
    for (struct operation *operation = queue; operation; operation = operation->next) finish(operation);
    drop_finished();
}

/* How long nothing has to happen before an operation is let go: less after many, so that programs come to an end. */
static double patience(void) { return released < MANY ? LONG : SHORT; }

static void linger(void) {
    released++;
    usleep((released < MANY ? LINGER : SHORT) * 1e6);
}

static int concerns(const struct operation *operation, const void *place, int target) {
    return !place || (operation->place == place && (target < 0 || operation->target == target));
}

/* One of those that a completion of `place` concerns. */
static void release_one(const void *place, int target) {
    struct operation *chosen = NULL;
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (!operation->last && concerns(operation, place, target) && (newest_first || !chosen)) chosen = operation;
    released++;
    if (chosen) finish(chosen);
    drop_finished();
}

struct operation *pgasrob_operation(const void *place, int target, void (*perform)(struct operation *), size_t arguments) {
    struct operation *operation = calloc(1, sizeof *operation + arguments);
    if (!operation) failed("out of memory");
    operation->place = place;
    operation->target = target;
    operation->perform = perform;
    operation->steps = PERFORM;
    operation->call = -1;
    for (int i = 0; i < 64 && fences[i].place; i++)
        if (fences[i].place == place) operation->epoch = fences[i].fences;
    return operation;
}

void pgasrob_source(struct operation *operation, int which, const void *from, size_t bytes) {
    operation->source[which] = (struct piece){from, malloc(bytes ? bytes : 1), bytes};
    operation->steps |= READ_SOURCE;
}

void pgasrob_result(struct operation *operation, void *to, size_t bytes) {
    operation->result = (struct piece){malloc(bytes ? bytes : 1), to, bytes};
    operation->steps |= DELIVER;
}

void pgasrob_issue(struct operation *operation, struct entry *entry, int element, int captured) {
    struct operation **link = &queue;
    while (*link) link = &(*link)->next;
    *link = operation;
    operation->element = element;
    if (entry) operation->call = entry->call;
    if (captured) do_step(operation, READ_SOURCE);
    if (mode == HOLD || (mode == FOLLOW && entry && entry->action && !control->abandoned)) return;
    finish(operation);
    drop_finished();
}

void pgasrob_issue_last(struct operation *operation) {
    struct operation **link = &queue;
    while (*link) link = &(*link)->next;
    *link = operation;
    drop_finished();
}

void pgasrob_complete(const void *place, int target) {
    while (mode == HOLD && pgasrob_holds(place, target)) {
        linger();
        release_one(place, target);
    }
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (concerns(operation, place, target)) finish(operation);
    drop_finished();
}

void pgasrob_complete_all(void) {
    while (mode == HOLD && queue) {
        linger();
        release_one(NULL, -1);
    }
    release_all();
}

static void finish_locally(struct operation *operation) {
    do_step(operation, READ_SOURCE);
    if (operation->fetches) finish(operation);
}

void pgasrob_complete_locally(const void *place, int target) {
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (concerns(operation, place, target)) finish_locally(operation);
    drop_finished();
}

void pgasrob_complete_request(const void *request) {
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (operation->request == request) finish_locally(operation);
    drop_finished();
}

int pgasrob_waits_for(const void *request) {
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (operation->request == request) return operation->fetches || !(operation->done & READ_SOURCE);
    return 0;
}

int pgasrob_holds(const void *place, int target) {
    for (struct operation *operation = queue; operation; operation = operation->next)
        if (concerns(operation, place, target)) return 1;
    return 0;
}

void pgasrob_fence(const void *place) {
    for (int i = 0; i < 64; i++)
        if (!fences[i].place || fences[i].place == place) {
            fences[i].place = place;
            fences[i].fences++;
            return;
        }
    pgasrob_complete(place, -1); /* more contexts than are counted */
}

/* --- turns ------------------------------------------------------------------------------------------------------ */

static void pause_briefly(void) {
    pgasrob_inside++;
    if (progress) progress();
    pgasrob_inside--;
    usleep(100);
}

static void wait_for_turn(int turn) {
    int last = -1;
    double since = now();
    if (mode != FOLLOW) return;
    while (control->turn < turn && !control->abandoned) {
        int is = control->turn;
        if (is != last) {
            last = is;
            since = now();
        } else if (now() - since > waits_for) {
            if (!atomic_exchange(&control->abandoned, 1)) tell("abandoned", is, NULL, 0);
            return;
        }
        pause_briefly();
    }
}

static void pass_turn(struct entry *entry) {
    if (mode == FOLLOW && control->turn == entry->turn) control->turn = entry->turn + 1;
}

static void close_statement(void) {
    if (open_statement) pass_turn(open_statement);
    open_statement = NULL;
}

static void do_entry(struct entry *entry) {
    wait_for_turn(entry->turn);
    if (entry->kind == 'S' && mode == FOLLOW) {
        for (struct operation *operation = queue; operation; operation = operation->next)
            if (operation->call == entry->call && (entry->element < 0 || operation->element == entry->element))
                do_step(operation, entry->action);
        drop_finished();
    }
    pass_turn(entry);
}

/* The steps that come next; behind the end of the run, and where it is given up, all. */
static void do_steps(void) {
    while (cursor < entries && schedule[cursor].kind == 'S') do_entry(&schedule[cursor++]);
    if (mode == FOLLOW && queue && (control->abandoned || control->turn >= total)) release_all();
}

/* The next entry that is of this kind; those before it, which the program does not come to, are passed over. */
static struct entry *next_entry(char kind, int statement, const char *name) {
    int found = cursor;
    for (;; found++) {
        struct entry *entry = &schedule[found];
        if (found == entries) return NULL;
        if (entry->kind == kind && (kind == 'P' ? entry->statement == statement : !strcmp(entry->name, name))) break;
        if (entry->kind == 'C') return NULL;
    }
    while (cursor < found) do_entry(&schedule[cursor++]);
    wait_for_turn(schedule[cursor].turn);
    return &schedule[cursor++];
}

static void come_to(int statement) {
    struct entry *entry = next_entry('P', statement, "");
    if (entry) open_statement = entry;
}

struct entry *pgasrob_enter(const char *name, int blocking) {
    struct entry *entry;
    quiet_since = now();
    if (mode != WATCH && mode != FOLLOW) return NULL;
    close_statement();
    do_steps();
    entry = next_entry('C', 0, name);
    if (entry && blocking) pass_turn(entry);
    return entry;
}

void pgasrob_leave(struct entry *entry) {
    quiet_since = now();
    if (mode != WATCH && mode != FOLLOW) return;
    if (entry) {
        pass_turn(entry);
        do_steps();
    }
    if (depth) come_to(stack[depth - 1]);
}

void pgasrob_saw(struct entry *entry, const void *value, size_t bytes) {
    if (entry) tell("call", entry->call, value, bytes);
}

void pgasrob_at(int statement) {
    if (mode != WATCH && mode != FOLLOW) return;
    close_statement();
    do_steps();
    if (depth < MOST_NESTED) stack[depth] = statement;
    depth++;
    come_to(statement);
}

static void leave_statement(int statement) {
    for (int i = depth < MOST_NESTED ? depth : MOST_NESTED; i-- > 0;)
        if (stack[i] == statement) {
            depth = i;
            return;
        }
}

long pgasrob_done(int statement) {
    if (mode != WATCH && mode != FOLLOW) return 0;
    close_statement();
    do_steps();
    leave_statement(statement);
    if (depth) come_to(stack[depth - 1]);
    return 0;
}

void pgasrob_last(int statement) { leave_statement(statement); }

void pgasrob_show(int statement, int number, const volatile void *value, unsigned long bytes) {
    if (open_statement && open_statement->statement == statement && (open_statement->element >> number & 1))
        tell("read", number, value, bytes);
}

void pgasrob_cell(int number, const volatile void *value, unsigned long bytes) {
    if (number < 0 || number >= MOST_CELLS) return;
    cells[number].value = value;
    cells[number].bytes = bytes;
    cells[number].given = 1;
}

void pgasrob_end(void) {
    for (int i = 0; i < MOST_CELLS; i++)
        if (cells[i].given) tell("cell", i, cells[i].value, cells[i].bytes);
    if (mode != OFF) tell("followed", mode == FOLLOW ? entries - cursor : 0, NULL, 0);
}

/* --- everything held back --------------------------------------------------------------------------------------- */

int pgasrob_holding_all(void) { return mode == HOLD; }

void pgasrob_idle(void) {
    pause_briefly();
    if (queue && now() - quiet_since > patience()) {
        release_one(NULL, -1);
        quiet_since = now();
    }
}

void pgasrob_poll(void) {
    static double polling_since, last;
    pgasrob_inside++;
    if (mode != OFF && progress) progress(); /* the tests of Open MPI 4 make none */
    pgasrob_inside--;
    if (mode != HOLD || !queue) return;
    if (now() - last > LONG) polling_since = now();
    last = now();
    pause_briefly();
    if (last - polling_since > patience()) {
        release_one(NULL, -1);
        polling_since = now();
    }
}

void pgasrob_release_slowly(void) {
    while (mode == HOLD && queue) pgasrob_idle();
}

void pgasrob_gather(void) {
    int mine, arrived;
    if (mode != HOLD) return;
    mine = ++control->arrivals[me];
    do {
        arrived = 1;
        for (int rank = 0; rank < ranks; rank++)
            if (control->arrivals[rank] < mine) arrived = 0;
        if (!arrived) pgasrob_idle();
    } while (!arrived);
}
