"""Accesses to memory cells: which event makes which, and when two of them conflict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pgasrob.program import core
from pgasrob.program.core import Cell, Form, Place
from pgasrob.program.expressions import Expr, constant
from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import EventKind, writes

Access = core.Access[Cell]
"""One access to a cell: whether it reads, whether it writes (an atomic does both)."""


def conflict(first: Access, second: Access) -> bool:
    """Whether two accesses are to one cell and at least one of them writes, unless both are updates that commute."""
    if first.cell != second.cell or (first.commutes and first.commutes == second.commutes):
        return False
    return first.writes or second.writes


def access(kind: EventKind, cell: Cell | None, commutes: str = "") -> Access | None:
    """The access that an event of ``kind`` makes to its ``cell``; None for an event that makes none.

    A compare_swap counts as a read and a write even when it fails (the design, section 2). The popb of an atomic counts
    as a write although it reads too: whatever conflicts with a read conflicts with a write.
    """
    if cell is None:
        return None
    return core.Access(cell, kind not in ("store", "popb", "popc"), writes(kind), commutes)


class _Event(Protocol):
    @property
    def kind(self) -> EventKind: ...
    @property
    def cell(self) -> Cell | None: ...
    @property
    def commutes(self) -> str: ...


def access_of(event: _Event) -> Access | None:
    """The access that an event, or the letter of one, makes; None when it makes none."""
    return access(event.kind, event.cell, event.commutes)


def possible_accesses(instance: Instance, rank: int) -> frozenset[Access]:
    """Every access that an event of the process ``rank`` could make, ignoring control and values.

    Exact for constant addresses and ranks; an operand that depends on a register may be any cell it could name.
    """
    forms = {transition.occurrence: transition for transition in instance.automata[rank].transitions}
    # Many commands of a large program do the same to any cell, or to one.
    alike = {
        (kind, commutes, place.rank and (constant(place.rank), 0), constant(place.address)): place
        for transition in forms.values()
        for kind, place, commutes in _events(transition.command.kind, transition.form)
    }
    return frozenset(
        made
        for (kind, commutes, _, _), place in alike.items()
        for cell in _cells(instance, rank, place)
        if (made := access(kind, cell, commutes))
    )


def _events(kind: EventKind, form: Form) -> list[tuple[EventKind, Place, str]]:
    """The events of a command that access a cell, where, and how they commute."""
    first = core.at_issue(form)
    events: list[tuple[EventKind, Place, str]] = [] if first is None else [(kind, first.cell, first.commutes)]
    return [*events, *((step.kind, step.access.cell, step.access.commutes) for step in core.steps_of(form))]


def _cells(instance: Instance, rank: int, place: Place) -> list[Cell]:
    def choices(expr: Expr, bound: int) -> Sequence[int]:
        value = constant(expr)
        return range(bound) if value is None else [value] if 0 <= value < bound else []

    ranks = [instance.home[rank]] if place.rank is None else choices(place.rank, instance.nodes)
    return [node * instance.size + address for node in ranks for address in choices(place.address, instance.size)]
