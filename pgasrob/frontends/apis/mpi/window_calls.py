"""The marks by which `races.mpi` knows a program's calls on MPI windows (MPI-4, chapter 12)."""

from __future__ import annotations

from typing import Literal

from pgasrob.program.value_classes import record

RmaKind = Literal["put", "get", "accumulate", "get_accumulate", "compare_and_swap"]
"""Communication; a fetch_and_op is a get_accumulate."""
SyncKind = Literal[
    "fence", "lock", "lock_all", "unlock", "unlock_all", "flush", "flush_all", "flush_local", "flush_local_all",
    "win_sync", "create", "post", "start", "complete", "wait", "request"
]  # fmt: skip
"""Synchronisation; ``create``: of the window itself; ``request``: the wait for one operation that has a request."""


@record
class RmaCall:
    """Communication with ``target``, a rank; the transfers that follow are its accesses.

    ``operation`` and ``type``: of an accumulate, as MPI calls them without `MPI_` ("sum", "no_op"; "INT").
    ``request``: the number that a request for it has among those to the target, None where there is none.
    """

    name: str
    kind: RmaKind
    window: str
    target: int
    operation: str = ""
    type: str = ""
    request: int | None = None


@record
class SyncCall:
    """Synchronisation on a window of the ranks ``members``; it has a mark where it begins and one where it ``ends``.

    ``targets``: the ranks that it is about: of a lock, an unlock or a flush the target, of post, start, complete and
    wait the group, else all members. ``exclusive``: of a lock. ``request``: as in `RmaCall`.
    """

    name: str
    kind: SyncKind
    window: str
    members: tuple[int, ...]
    targets: tuple[int, ...]
    ends: bool = False
    exclusive: bool = False
    request: int | None = None


@record
class Shared:
    """A window is made to whose memory all its ranks load and store, by the call ``name``."""

    name: str


@record
class Uncovered:
    """A call that the model of `races.mpi` says nothing about, and what to do instead."""

    name: str
    hint: str
