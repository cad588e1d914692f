/* What the generated functions of MPI (mpi.py) call before and after the library's own. */
#ifndef PGASROB_MPI_H
#define PGASROB_MPI_H

#include "trace.h"

#include <mpi.h>

void pgasrob_mpi_begin(int level, const char *function, void *caller);

/* --- communicators, windows, requests --- */

void pgasrob_communicator(MPI_Comm made);
void pgasrob_window(MPI_Win made, MPI_Comm of, enum window_flavour flavour, void *address, MPI_Aint bytes, int unit,
                    void *caller);
void pgasrob_window_gone(word window);
word pgasrob_group_of(MPI_Comm communicator);
word pgasrob_window_of(MPI_Win window);
word pgasrob_rank_in(MPI_Win window, int rank);
/* The group with a fresh identity, in the trace. */
word pgasrob_members(MPI_Group group);
/* Gives a request that a call made its identity, which that call has as its last operand. */
word pgasrob_request(void);
void pgasrob_requested(MPI_Request request, word identity, bool receives, MPI_Comm communicator);
/* What a persistent request does at each start. */
void pgasrob_persistent(MPI_Request request, bool receives, int mode, const void *buffer, int count, MPI_Datatype type,
                        int rank, int tag, MPI_Comm communicator);
void pgasrob_started(MPI_Request request, const char *function, void *caller);
void pgasrob_request_free(MPI_Request request, const char *function, void *caller);

/* --- operations --- */

/* One side of a transfer. */
struct part { const void *address; int count; MPI_Datatype type; };

void pgasrob_rma(enum operation operation, const char *function, void *caller, struct part origin, int rank,
                 MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win window, word request);
/* `result` and `expected` with a NULL address: there is none. */
void pgasrob_accumulate(unsigned flags, const char *function, void *caller, struct part origin, struct part result,
                        struct part expected, int rank, MPI_Aint displacement, int count, MPI_Datatype type,
                        enum update update, MPI_Win window, word request);
enum update pgasrob_update(MPI_Op operation);
void pgasrob_send(unsigned flags, const char *function, void *caller, int mode, struct part part, int rank, int tag,
                  MPI_Comm communicator, word request);
void pgasrob_receive(const char *function, void *caller, struct part part, int rank, int tag, MPI_Comm communicator,
                     word request);
void pgasrob_probe(const char *function, void *caller, int rank, int tag, MPI_Comm communicator, int waits);
void pgasrob_probed(int found, const MPI_Status *status, MPI_Comm communicator);
void pgasrob_mpi_collective(enum collective kind, enum update update, const char *function, void *caller, int root,
                            const void *destination, const void *source, int count, MPI_Datatype type,
                            MPI_Comm communicator, word request);
void pgasrob_collected(word request);

#endif
