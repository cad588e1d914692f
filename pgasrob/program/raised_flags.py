"""Cells to which others write one value alone: once a rank has seen it, it stays (`proofs/polling.md`, section 5).

What a flag is: 0, or whatever its owner has stored, until the 1 arrives that somebody puts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, assert_never

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Cell, Form, Place
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import Expr, constant
from pgasrob.program.shown_places import Shown

MOST_EARLIER = 4
"""Values that a cell may hold before: a flag has few."""


class Flag(NamedTuple):
    """The values of a cell as one rank sees it: the one that ``arrives``, from others or by steps of its own transfers,
    and those that it may hold ``before``: at the beginning, or when the rank has stored them itself."""

    arrives: int
    before: tuple[int, ...]

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.before, self.arrives)))


class _Write(NamedTuple):
    """A write of ``value`` (None: any) to ``cell`` by a command of ``rank``, by itself or ``at_issue``."""

    cell: Cell
    rank: int
    at_issue: bool
    value: int | None


class _AnyCell(Exception):
    """Some write may be to any cell."""


class Flags:
    """The flags of ``program``, with these ``automata`` by rank."""

    def __init__(self, program: Declared, automata: Sequence[ControlAutomaton]) -> None:
        self._program, self._automata = program, automata
        self._nodes, self._size = len(automata), program.cells

    @property
    def merges(self) -> bool:
        """Whether all that the program shows are its commands, so that control states with the same future are one."""
        return not self._program.shows_more

    @property
    def shown(self) -> Shown | None:
        """Where the source shows something."""
        return self._program.shown

    def of(self, rank: int) -> Mapping[Cell, Flag]:
        """The cells that are flags to ``rank``."""
        found: dict[Cell, Flag] = {}
        for cell, writes in self._writes.items():
            own = [write for write in writes if write.at_issue and write.rank == rank]
            arriving = {write.value for write in writes if write not in own}
            before = {self._initial.get(cell % self._size), *(write.value for write in own)}
            values = [value for value in before if value is not None]
            if len(arriving) == 1 and len(values) == len(before) <= MOST_EARLIER:
                (arrives,) = arriving
                if arrives is not None:
                    found[cell] = Flag(arrives, tuple(sorted(values)))
        return found

    @cached_property
    def _initial(self) -> dict[int, int]:
        """The initial value of each address of which it is known."""
        return {
            memory.address + offset: value
            for memory in self._program.memory
            if memory.name not in self._program.uncertain
            for offset, value in enumerate(memory.initial)
        }

    @cached_property
    def _writes(self) -> Mapping[Cell, Sequence[_Write]]:
        """What may be written to each cell, if it is known of all writes where they are."""
        found: dict[Cell, dict[_Write, None]] = {}
        copies: list[tuple[Cell, int, int, Cell]] = []
        try:
            for rank, automaton in enumerate(self._automata):
                for state, leaving in enumerate(automaton.out):
                    for edge in leaving:
                        for write in self._written(rank, edge.form):
                            found.setdefault(write.cell, {})[write] = None
                        copies += ((to, rank, state, source) for to, source in self._copied(rank, edge.form))
        except _AnyCell:
            return {}
        for to, rank, state, source in copies:
            for value in self._held(source, rank, state, found.get(source, {})):
                found.setdefault(to, {})[_Write(to, rank, False, value)] = None
        return {cell: tuple(writes) for cell, writes in found.items()}

    def _written(self, rank: int, form: Form) -> Iterator[_Write]:
        """The writes of a command, but for those of :meth:`_copied`."""
        match form:
            case core.Immediate(access, update=update):
                for cell in self._cells(access.cell, rank) if access.writes else ():
                    yield _Write(cell, rank, True, _value(update))
            case core.Transfer(steps=steps, update=update):
                for step in steps:
                    if step.access.writes and not _copies(form):
                        value = _value(update) if step.kind == "popb" else None
                        for cell in self._cells(step.access.cell, rank):
                            yield _Write(cell, rank, False, value)
            case core.Assign() | core.Test() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
                return
            case _:
                assert_never(form)

    def _copied(self, rank: int, form: Form) -> Iterator[tuple[Cell, Cell]]:
        """The cells that a put writes what its source holds at its issue, with the source."""
        if isinstance(form, core.Transfer) and _copies(form):
            assert form.captured is not None
            for step in form.steps:
                for to in self._cells(step.access.cell, rank):
                    yield from ((to, source) for source in self._cells(form.captured.cell, rank))

    def _held(self, cell: Cell, rank: int, state: int, writes: Iterable[_Write]) -> Sequence[int | None]:
        """What ``cell`` may hold when ``rank`` is at ``state``: what the rank has stored there last, if nobody else
        writes it."""
        if any(write.rank != rank or not write.at_issue or write.value is None for write in writes):
            return (None,)
        out = self._automata[rank].out
        held: list[set[int | None]] = [set() for _ in out]
        held[0].add(self._initial.get(cell % self._size))
        changed = [0]
        while changed:
            at = changed.pop()
            for edge in out[at]:
                stored = [write.value for write in self._written(rank, edge.form) if write.cell == cell]
                after = set(stored) or held[at]
                if not after <= held[edge.target]:
                    held[edge.target] |= after
                    changed.append(edge.target)
        return list(held[state])

    def _cells(self, place: Place, rank: int) -> Iterator[Cell]:
        """The cells at which ``place`` may be in a command of ``rank``."""
        address = constant(place.address)
        if address is None:
            raise _AnyCell
        owner = rank if place.rank is None else constant(place.rank)
        if not 0 <= address < self._size or (owner is not None and not 0 <= owner < self._nodes):
            return  # it faults
        for each in range(self._nodes) if owner is None else (owner,):
            yield each * self._size + address


def _value(update: core.Update[Expr] | None) -> int | None:
    """The value that an update leaves, if it changes anything; None: any."""
    if update is None or update.operation not in core.CHOOSING or update.operand is None:
        return None
    return constant(update.operand)


def _copies(form: Form) -> bool:
    """Whether a command writes what it has read at its issue, and nothing else."""
    return isinstance(form, core.Transfer) and form.update is None and form.captured is not None
