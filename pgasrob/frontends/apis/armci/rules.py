"""The rules of ARMCI about which calls are allowed where, as far as they are checked.

ARMCI's documentation names them at the functions.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

HANDLE_IN_USE = Rule(
    "armci-handle-in-use",
    "a handle is for one operation until that has been waited for, unless it aggregates",
    "ARMCI, ARMCI_NbPut",
    "wait for the handle first, use another one, or let it aggregate (ARMCI_SET_AGGREGATE_HANDLE)",
)
NEVER_WAITED_FOR = Rule(
    "armci-never-waited-for",
    "an operation with a handle is waited for, or fenced, before ARMCI_Finalize",
    "ARMCI, ARMCI_Wait",
    "call ARMCI_Wait with the handle",
)
NOT_LOCKED = Rule(
    "armci-not-locked",
    "a process unlocks only a mutex that it has locked",
    "ARMCI, ARMCI_Unlock",
    "lock the mutex on every path to this point, or leave the unlock out",
)
FREED = Rule(
    "armci-freed",
    "memory is not used after ARMCI_Free",
    "ARMCI, ARMCI_Free",
    "free the memory after its last use by any process",
)
NOT_RUNNING = Rule(
    "armci-not-initialized",
    "functions of ARMCI are called after ARMCI_Init and before ARMCI_Finalize",
    "ARMCI, ARMCI_Init",
    "call ARMCI_Init first and ARMCI_Finalize last",
)
NO_MUTEX = Rule(
    "armci-no-mutex",
    "mutexes are used between ARMCI_Create_mutexes and ARMCI_Destroy_mutexes, by numbers below that of the process",
    "ARMCI, ARMCI_Create_mutexes",
    "create as many mutexes on each process as are used there, all of them by one call of ARMCI_Create_mutexes",
)
NO_HANDLE = Rule(
    "armci-no-handle",
    "a handle is initialised before it is used",
    "ARMCI, ARMCI_INIT_HANDLE",
    "call ARMCI_INIT_HANDLE with the handle before its first use",
)
