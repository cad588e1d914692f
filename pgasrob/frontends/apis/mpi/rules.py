"""The rules of MPI about which calls are allowed where (MPI-4.1, chapters 11 and 12), as far as they are checked.

The front end finds what breaks them from what a rank has called before (`epochs.py`); for executions
`races.mpi.validity` adds what takes several ranks to tell, with sentences and sections from here, too.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

NO_EPOCH = Rule(
    "mpi-no-epoch",
    "communication with a target takes an epoch: fences around it, a lock of the target, or a start with the target in "
    "its group",
    "MPI-4.1, 12.5",
    "put MPI_Win_lock and MPI_Win_unlock of the target, or fences, around it",
)
LOCK_TWICE = Rule(
    "mpi-lock-twice",
    "a rank locks a target only when it holds no lock of it",
    "MPI-4.1, 12.5.3",
    "unlock it before it is locked again",
)
UNLOCK_UNLOCKED = Rule(
    "mpi-unlock-unlocked",
    "a rank unlocks only what it has locked: targets one by one, or all of them after MPI_Win_lock_all",
    "MPI-4.1, 12.5.3",
    "lock it on every path to this point, or leave the unlock out",
)
OVERLAP = Rule(
    "mpi-epochs-overlap",
    "the access epochs of a window follow each other: one by fences with communication in it, by a start, or by locks "
    "is completed before one of another kind begins",
    "MPI-4.1, 12.5",
    "complete the open epoch first",
)
LOCKED_AND_EXPOSED = Rule(
    "mpi-locked-and-exposed",
    "a window is not locked while it is exposed by MPI_Win_post, nor posted while it is locked",
    "MPI-4.1, 12.5.3",
    "call MPI_Win_wait, or unlock it, first",
)
FLUSH_UNLOCKED = Rule(
    "mpi-flush-unlocked",
    "a flush is called between a lock and its unlock only",
    "MPI-4.1, 12.5.4",
    "move it before the unlock; where fences or MPI_Win_complete end the epoch, they complete what a flush would",
)
SYNC_UNLOCKED = Rule(
    "mpi-sync-unlocked",
    "MPI_Win_sync is called between a lock and its unlock only: like a flush, within a passive-target epoch",
    "MPI-4.1, 12.5.4",
    "call MPI_Win_lock_all before it (with MPI_MODE_NOCHECK, if nobody locks), and MPI_Win_unlock_all later",
)
START_TWICE = Rule(
    "mpi-start-twice",
    "an epoch begun by MPI_Win_start is completed by MPI_Win_complete before the next one begins",
    "MPI-4.1, 12.5.2",
    "call MPI_Win_complete first",
)
COMPLETE_UNSTARTED = Rule(
    "mpi-complete-unstarted",
    "MPI_Win_complete ends an epoch that MPI_Win_start has begun",
    "MPI-4.1, 12.5.2",
    "call MPI_Win_start on every path to this point",
)
POST_TWICE = Rule(
    "mpi-post-twice",
    "an epoch begun by MPI_Win_post is ended by MPI_Win_wait or MPI_Win_test before the next one begins",
    "MPI-4.1, 12.5.2",
    "call MPI_Win_wait first",
)
WAIT_UNPOSTED = Rule(
    "mpi-wait-unposted",
    "MPI_Win_wait and MPI_Win_test end an epoch that MPI_Win_post has begun",
    "MPI-4.1, 12.5.2",
    "call MPI_Win_post on every path to this point",
)
FALSE_ASSERTION = Rule(
    "mpi-false-assertion",
    "the promises of MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED and MPI_MODE_NOCHECK are kept",
    "MPI-4.1, 12.5.5",
    "pass 0 as the assertion",
)
REQUEST_OUTSIDE = Rule(
    "mpi-request-outside-lock",
    "calls that give a request, such as MPI_Rput, are made only between a lock of the target and its unlock",
    "MPI-4.1, 12.3.5",
    "use the call without a request, or lock the target",
)
BUFFER_IN_USE = Rule(
    "mpi-buffer-in-use",
    "from a nonblocking call to its completion what it sends is not changed, and where it receives is not accessed",
    "MPI-4.1, 3.7.2 and 6.12",
    "complete the request first, or use another buffer",
)
REQUEST_FREED = Rule(
    "mpi-request-freed",
    "the request of a one-sided call is not freed, but waited for",
    "MPI-4.1, 12.3.5",
    "call MPI_Wait",
)
COLLECTIVE_FREED = Rule(
    "mpi-collective-request-freed",
    "the request of a nonblocking collective is not freed, but waited for",
    "MPI-4.1, 6.12",
    "call MPI_Wait",
)
FREE_IN_EPOCH = Rule(
    "mpi-free-in-epoch",
    "MPI_Win_free comes after the rank has completed its epochs on the window",
    "MPI-4.1, 12.2.5",
    "complete the epoch first",
)
FREED = Rule(
    "mpi-window-freed",
    "a window that has been freed is not used",
    "MPI-4.1, 12.2.5",
    "free the window after its last use",
)
OPEN_AT_END = Rule(
    "mpi-open-at-finalize",
    "before MPI_Finalize a rank completes its communication: it ends its epochs and waits for its requests",
    "MPI-4.1, 11.2.2",
    "end the epoch, or wait for the request, before MPI_Finalize",
)
NOT_RUNNING = Rule(
    "mpi-not-initialized",
    "calls of MPI come after MPI_Init and before MPI_Finalize",
    "MPI-4.1, 11.4.1",
    "call MPI_Init first and MPI_Finalize last",
)
NULL_HANDLE = Rule(
    "mpi-null-handle",
    "communicators, groups, datatypes and operations have been made and not freed",
    "MPI-4.1, 2.5.1",
    "free it after its last use, or leave the call out where there is none",
)
OPERATION = Rule(
    "mpi-operation",
    "bitwise operations are for integers, MPI_REPLACE is for accumulates, and MPI_NO_OP for those that fetch",
    "MPI-4.1, 6.9.2 and 12.3.4",
    "use an operation that the call has for this type",
)
MEMORY_FREED = Rule(
    "mpi-memory-freed",
    "memory that MPI has allocated is not used after MPI_Win_free, or MPI_Free_mem",
    "MPI-4.1, 12.2.5 and 9.2",
    "free it after its last use",
)
WINDOW_SYNC = Rule(
    "mpi-window-sync",
    "what a rank loads or stores in a shared window behind a load or store of another rank there takes MPI_Win_sync on "
    "both sides of the barrier, message or flag that orders the two: a barrier alone leaves undefined what is loaded",
    "MPI-4.1, 12.2.3 and 12.5.4",
    "call MPI_Win_sync, the barrier, and MPI_Win_sync again",
)
