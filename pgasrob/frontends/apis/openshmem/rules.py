"""The rules of OpenSHMEM about which calls are allowed where (1.5), as far as they are checked.

Sections are named by the routine, for their numbers differ between the versions of the specification.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

NOT_SYMMETRIC = Rule(
    "shmem-not-symmetric",
    "what a call accesses on another PE, what it waits for, and the buffers of a collective are symmetric objects: "
    "global or static variables, or memory of shmem_malloc",
    "OpenSHMEM 1.5, Memory Model",
    "declare the variable static or at file scope, or allocate it with shmem_malloc",
)
FREED = Rule(
    "shmem-freed",
    "memory is not used after shmem_free",
    "OpenSHMEM 1.5, shmem_free",
    "free the memory after its last use by any PE",
)
FREED_TWICE = Rule(
    "shmem-freed-twice",
    "shmem_free gets the address of memory that is allocated",
    "OpenSHMEM 1.5, shmem_free",
    "free the memory once",
)
CONTEXT_DESTROYED = Rule(
    "shmem-context-destroyed",
    "a context is not used after shmem_ctx_destroy",
    "OpenSHMEM 1.5, shmem_ctx_destroy",
    "destroy the context after its last use",
)
CONTEXT_PRIVATE = Rule(
    "shmem-context-private",
    "a context with SHMEM_CTX_PRIVATE is used only by the thread that has made it",
    "OpenSHMEM 1.5, shmem_ctx_create",
    "make a context in each thread, or make it without SHMEM_CTX_PRIVATE",
)
TEAM_DESTROYED = Rule(
    "shmem-team-destroyed",
    "a team is not used after shmem_team_destroy",
    "OpenSHMEM 1.5, shmem_team_destroy",
    "destroy the team after its last use",
)
NOT_LOCKED = Rule(
    "shmem-not-locked",
    "a PE clears only a lock that it has set",
    "OpenSHMEM 1.5, shmem_clear_lock",
    "set the lock on every path to this point, or leave out shmem_clear_lock",
)
NOT_RUNNING = Rule(
    "shmem-not-initialized",
    "routines are called after shmem_init, and none but queries after shmem_finalize",
    "OpenSHMEM 1.5, shmem_init and shmem_finalize",
    "call shmem_init first and shmem_finalize last",
)
SIZES_DIFFER = Rule(
    "shmem-sizes-differ",
    "all PEs ask for the same number of bytes",
    "OpenSHMEM 1.5, shmem_malloc",
    "let all PEs allocate as much as the one that needs most",
)
OVERLAP = Rule(
    "shmem-overlap",
    "the source and the destination of a reduction are the same array, or do not overlap",
    "OpenSHMEM 1.5, Reductions",
    "reduce into the source itself, or into an array of its own",
)
