"""The rules of OpenSHMEM about which calls are allowed where (1.5), as far as they are checked.

Sections are named by the routine, for their numbers differ between the versions of the specification.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

NOT_SYMMETRIC = Rule(
    "shmem-not-symmetric",
    "what a call accesses on another PE is a symmetric object: a global or static variable, or memory of shmem_malloc",
    "OpenSHMEM 1.5, Memory Model",
    "declare the variable static or at file scope, or allocate it with shmem_malloc",
)
FREED = Rule(
    "shmem-freed",
    "memory is not used after shmem_free",
    "OpenSHMEM 1.5, shmem_free",
    "free the memory behind its last use by any PE",
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
    "destroy the context behind its last use",
)
TEAM_DESTROYED = Rule(
    "shmem-team-destroyed",
    "a team is not used after shmem_team_destroy",
    "OpenSHMEM 1.5, shmem_team_destroy",
    "destroy the team behind its last use",
)
NOT_LOCKED = Rule(
    "shmem-not-locked",
    "a PE clears only a lock that it has set",
    "OpenSHMEM 1.5, shmem_clear_lock",
    "set the lock on every way to here, or leave out shmem_clear_lock",
)
FINALIZED = Rule(
    "shmem-finalized",
    "no routine but queries is called after shmem_finalize",
    "OpenSHMEM 1.5, shmem_finalize",
    "call shmem_finalize last",
)
