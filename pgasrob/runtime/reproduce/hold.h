/* The shim that has a program follow a run: operations are held back, and ranks wait for each other's turns.
 *
 * Everything it does is something that the library may do by itself. An operation that is held back has been called and
 * has not been completed; the calls that complete it let it go first (pgasrob_complete), and so does whatever its
 * specification puts after it. A rank that waits for its turn is a slow one.
 */
#ifndef PGASROB_HOLD_H
#define PGASROB_HOLD_H

#include <stddef.h>

/* What an operation does after its call, one after the other. */
enum { READ_SOURCE = 1, PERFORM = 2, DELIVER = 4 };

struct piece {
    const void *from;
    void *to; /* a buffer of the shim: what is read early, or has come and is delivered late */
    size_t bytes;
};

struct operation {
    struct operation *next;
    const void *place;          /* the context or window whose calls complete it */
    int target;                 /* the rank that it names */
    int epoch;                  /* how many fences its context has had */
    int fenced;                 /* whether fences order it */
    int located;                /* whether operations on one location keep their order (accumulates) */
    size_t location, extent;
    int call, element;          /* of the schedule; call -1: not in it */
    int steps;                  /* the steps it has: READ_SOURCE | PERFORM | DELIVER */
    int done;                   /* those that have happened */
    struct piece source[2];
    struct piece result;        /* from the buffer to where the program wants it */
    void (*perform)(struct operation *);
    void *request;              /* MPI: of a request-based operation */
    int fetches;                /* it is complete at its origin when it has been done */
    int keep;                   /* the library may use its buffers until pgasrob_forget */
    int last;                   /* all operations on its place come first */
    char arguments[] __attribute__((aligned(16)));
};

struct entry;

/* For the generated functions: whether calls come from within the library. */
extern int pgasrob_inside;

void pgasrob_start(int rank, int ranks);
void pgasrob_end(void);

/* A call begins: waits for its turn. A blocking one gives its turn away before it goes into the library.
 * NULL: the schedule does not have it. */
enum { ALONE = 0, BLOCKING = 1 };
struct entry *pgasrob_enter(const char *name, int blocking);
void pgasrob_leave(struct entry *entry);
/* What the call has read, for the report. */
void pgasrob_saw(struct entry *entry, const void *value, size_t bytes);

/* A new operation of the call `entry`. After pgasrob_issue it belongs to the shim. */
struct operation *pgasrob_operation(const void *place, int target, void (*perform)(struct operation *), size_t arguments);
void pgasrob_source(struct operation *operation, int which, const void *from, size_t bytes);
void pgasrob_result(struct operation *operation, void *to, size_t bytes);
void pgasrob_issue(struct operation *operation, struct entry *entry, int element, int captured);

/* What completion calls oblige: target -1: all. Local: sources have been read, and what is fetched has arrived. */
void pgasrob_complete(const void *place, int target);
void pgasrob_complete_all(void);
void pgasrob_complete_locally(const void *place, int target);
void pgasrob_complete_request(const void *request);
int pgasrob_waits_for(const void *request);
void pgasrob_forget(const void *place);
/* It happens when nothing on its place is held back. */
void pgasrob_issue_last(struct operation *operation);
void pgasrob_fence(const void *place);
int pgasrob_holds(const void *place, int target);

/* With everything held back: the rank waits, or polls, and nothing happens; after a while one operation is let go. */
void pgasrob_idle(void);
void pgasrob_poll(void);
int pgasrob_holding_all(void);
void pgasrob_release_slowly(void);
/* All ranks come to this call; returns when they have. */
void pgasrob_gather(void);

/* What each library defines: makes what has been performed visible at its target. */
void pgasrob_flush(struct operation *operation);

/* In the rewritten program. */
void pgasrob_at(int statement);
long pgasrob_done(int statement);
void pgasrob_last(int statement); /* it ends in a return: what comes next is of another one */
void pgasrob_show(int statement, int number, const volatile void *value, unsigned long bytes);
void pgasrob_cell(int number, const volatile void *value, unsigned long bytes);

#endif
