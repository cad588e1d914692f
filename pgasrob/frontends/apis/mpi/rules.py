"""The rules of MPI about which calls are allowed where (MPI-4.1, chapter 12), as far as they are checked.

The front end finds what breaks them from what a rank has called before (`Illegal` commands); `races.mpi.validity` finds
them in executions. Both take their sentences and sections from here.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

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
    "lock it on every way to here, or leave the unlock out",
)
