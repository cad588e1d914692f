"""Computations: sequences of events (the paper, section 2.3)."""

from __future__ import annotations

from typing import NamedTuple, assert_never, get_args

from pgasrob.program.commands import Kind
from pgasrob.program.core import Cell, StepKind

POPS: frozenset[str] = frozenset(get_args(StepKind))
"""The kinds of steps: read a source, update a destination, write a result, read what a compare_swap expects."""

EventKind = Kind | StepKind
"""The kind of an event: the name of the command that it issues, or which step it is."""


class Event(NamedTuple):
    """An event of a computation.

    ``operation`` counts the issued events of its rank from 0, in program order; a step (:data:`POPS`) carries the
    operation of the command that issued it. ``occurrence`` is that command's place in the control automaton of its
    rank, ``cell`` the flat number of the cell accessed, None for an event that accesses none. ``commutes``: the kind of
    update, when it commutes with those of its kind (:attr:`pgasrob.program.core.Access.commutes`). Where ranks have
    several threads, ``rank`` is the number of the process; ``home``: of a barrier, the rank that this belongs to, where
    that is another number.
    """

    kind: EventKind
    rank: int
    operation: int
    cell: Cell | None
    occurrence: int
    commutes: str = ""
    home: int | None = None

    @property
    def is_step(self) -> bool:
        return self.kind in POPS

    @property
    def of_rank(self) -> int:
        """Of a barrier: the rank that its event belongs to."""
        return self.rank if self.home is None else self.home

    @property
    def issued(self) -> tuple[int, int]:
        """The command this event belongs to, as (rank, operation)."""
        return self.rank, self.operation


Computation = tuple[Event, ...]


def has_steps(kind: EventKind) -> bool:
    """Whether an event of ``kind`` issues a command whose steps come later."""
    match kind:
        case "read" | "write" | "put" | "update" | "update_from" | "notify" | "signal":
            return True
        case (
            "load" | "store" | "assign" | "assume" | "assert" | "bundle" | "barrier" | "exit" | "wait" | "wait_local"
            | "fence" | "await" | "await_add" | "fetch" | "fetch_update" | "fetch_add" | "swap" | "compare_swap"
            | "failed_compare_swap"
        ):  # fmt: skip
            return False
        case "popa" | "popd" | "popb" | "popc":
            return False
        case _:
            assert_never(kind)


def writes(kind: EventKind) -> bool:
    """Whether an event of ``kind``, if it accesses a cell, writes it; whether it reads it too does not matter to
    conflicts."""
    match kind:
        case "store" | "fetch_add" | "swap" | "compare_swap" | "fetch_update" | "await_add" | "popb" | "popc":
            return True
        case "load" | "await" | "fetch" | "failed_compare_swap" | "put" | "popa" | "popd":
            return False
        case (
            "assign" | "assume" | "assert" | "read" | "write" | "update" | "update_from" | "notify" | "bundle"
            | "signal" | "barrier" | "exit" | "wait" | "wait_local" | "fence"
        ):  # fmt: skip
            return False  # it accesses none
        case _:
            assert_never(kind)
