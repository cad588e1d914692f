#ifndef PGASROB_MPI_H
#define PGASROB_MPI_H

#include "hold.h"

#include <mpi.h>

#define PLACE(win) ((const void *)(size_t)(win))

/* Operations. `fetched`: where the result goes, NULL for none; a request for those that are request-based. */
enum transfer { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP };
int pgasrob_transfer(struct entry *entry, enum transfer kind, const void *from, int count, MPI_Datatype type,
                     const void *compared, void *result, int result_count, MPI_Datatype result_type, int target,
                     MPI_Aint place, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                     MPI_Request *request);

/* Passive epochs: operations can be completed one by one. */
void pgasrob_locked(MPI_Win win, int change);
/* A new window: displacements count `unit` bytes at this rank. Accumulates on one location keep their order. */
void pgasrob_window(MPI_Win win, int unit, MPI_Comm comm);
/* MPI_Win_complete: happens when what comes before has. */
void pgasrob_ends(MPI_Win win);

/* Before the library waits for requests. Polling: whether it may be answered that they are not complete. */
void pgasrob_requests(int count, MPI_Request *requests);
int pgasrob_not_yet(struct entry *entry, MPI_Request *request);

/* With everything held back: the same calls, in which operations are let go after a while. */
int pgasrob_barrier(MPI_Comm comm);
int pgasrob_send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int pgasrob_receive(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);

void pgasrob_begin(void);
void pgasrob_finish(void);

#endif
