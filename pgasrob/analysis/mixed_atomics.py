"""Finds where a write may come between the read and the write of an atomic operation that a network card makes.

A network card reads the cell of a remote atomic, and then writes it. It promises that no other remote atomic of the
same card comes between (`IBV_ATOMIC_HCA`, ibv_query_device(3)), and few promise more. The store of a CPU, a put, or a
get that lands may come between, and the atomic then writes over it. Plain reads are harmless.

Blocking atomics of the core language on a rank's own memory are instructions of its CPU, as in RDMA-TSO, so the card
does not exclude them either. APIs promise that their own atomics exclude each other wherever the memory lies, so in a
program with a library only plain writes and the compiler's atomics count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import reduce
from operator import or_
from typing import NamedTuple

from pgasrob.analysis.pending import pending_transfers, transfers_of
from pgasrob.analysis.phases import meanwhile
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.commands import OF_THE_CPU, Accessing
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance


class Writing(Enum):
    """The kinds of writes that a network card does not keep out of its atomics."""

    STORE = "store"
    ATOMIC = "atomic"
    """An atomic instruction of the CPU."""
    PUT = "put"
    LANDING = "landing"
    """The result of a get or an atomic, which arrives."""


class Write(NamedTuple):
    """A write by a command of ``rank`` in ``line``."""

    rank: int
    line: int
    how: Writing


class Mixed(NamedTuple):
    """A ``cell`` (``x@0``) with the lines of its remote ``atomics`` and the ``writes`` that may come into one."""

    cell: str
    atomics: tuple[int, ...]
    writes: tuple[Write, ...]

    @property
    def lines(self) -> frozenset[int]:
        """All lines of it."""
        return frozenset((*self.atomics, *(each.line for each in self.writes)))


class _Site(NamedTuple):
    """A command that leaves ``state`` and changes ``cells``: by an atomic of a network card, where ``how`` is None.

    ``number``: of the transfer that changes them in a step, -1 where the command does at its issue. ``located``: it
    comes in order with the others of its rank to its cell.
    """

    state: int
    transition: Transition
    cells: int
    how: Writing | None
    number: int = -1
    located: bool = False

    @property
    def noted(self) -> Touched:
        """The cells, as read by an atomic and written by anything else."""
        return Touched(written=self.cells) if self.how else Touched(read=self.cells)


def mixed_atomics(instance: Instance) -> tuple[Mixed, ...]:
    """The cells of ``instance`` with atomics of a network card into which a write may come, in their order."""
    edges = (each for automaton in instance.automata for each in automaton.transitions)
    if not any(_fetches(each.form) and _atomic(each) for each in edges):
        return ()
    node = sum((1 << each.cells) - 1 << each.address for each in instance.program.memory if not each.made_up)
    program = sum(node << rank * instance.size for rank in range(instance.nodes))
    ranks = [_Rank(instance, rank, program) for rank in range(instance.processes)]
    planes = Planes(len(instance.memory), ())

    def noted(rank: int, states: Iterable[int]) -> Touched:
        return planes.touched(reduce(or_, (planes.bits(site.noted) for site in ranks[rank].under_way(states)), 0))

    atomics: dict[int, set[int]] = {}
    writes: dict[int, set[Write]] = {}
    for rank, of_others in zip(ranks, meanwhile(instance, noted), strict=True):
        for site, met in rank.met(of_others):
            line = site.transition.span.line
            for cell in members(met):
                if site.how is None:
                    atomics.setdefault(cell, set()).add(line)
                else:
                    writes.setdefault(cell, set()).add(Write(instance.home[rank.number], line, site.how))
    by_place = [
        (cell, tuple(sorted(atomics[cell])), sorted(writes[cell], key=lambda each: (each.line, each.rank)))
        for cell in sorted(atomics)
    ]
    return tuple(Mixed(instance.cell_name(cell), lines, tuple(found)) for cell, lines, found in by_place)


class _Rank:
    """The sites of one rank."""

    def __init__(self, instance: Instance, number: int, program: int) -> None:
        """``program``: the cells that no library has made up."""
        self.number = number
        self._instance, self._known = instance, ranges(instance)
        self._pending, self._transfers = pending_transfers(instance, number), transfers_of(instance, number)
        self._numbers = {
            (state, each.occurrence): number for number, (state, each) in enumerate(self._transfers.issues)
        }
        self._library = not instance.program.source.shows_commands
        self._home = (1 << instance.size) - 1 << instance.home[number] * instance.size
        self._cells = program
        self.sites = list(self._found())
        self._of_transfer: dict[int, list[_Site]] = {}
        self._at_state: dict[int, list[_Site]] = {}
        for site in self.sites:
            self._of_transfer.setdefault(site.number, []).append(site)
            self._at_state.setdefault(site.state, []).append(site)

    def _found(self) -> Iterator[_Site]:
        for state, leaving in enumerate(self._instance.automata[self.number].out):
            for each in leaving:
                if self._known.named(self.number, state, each).possible:
                    for site in self._of_command(state, each):
                        if cells := site.cells & self._cells:
                            yield site._replace(cells=cells)

    def _of_command(self, state: int, each: Transition) -> Iterator[_Site]:
        made, atomic = self._known.made(self.number, state, each), _atomic(each)
        by_cpu = atomic.startswith(OF_THE_CPU)
        match each.form:
            case core.Immediate():
                cells, fetches = made.at_issue.changed, bool(atomic) and _fetches(each.form)
                if by_cpu or not fetches:
                    yield _Site(state, each, cells, Writing.ATOMIC if fetches else Writing.STORE)
                elif self._library:
                    yield _Site(state, each, cells, None)
                else:
                    yield _Site(state, each, cells & ~self._home, None)
                    yield _Site(state, each, cells & self._home, Writing.ATOMIC)
            case core.Transfer(steps=steps):
                number = self._numbers[state, each.occurrence]
                for step, touched in zip(steps, made.steps, strict=True):
                    if step.access.writes and step.access.cell.rank is None:
                        yield _Site(state, each, touched.changed, Writing.LANDING, number)
                    elif step.access.writes and atomic and _fetches(each.form):
                        yield _Site(state, each, touched.changed, None, number, located=step.located)
                    elif step.access.writes and not (atomic and self._library):
                        yield _Site(state, each, touched.changed, Writing.PUT, number, located=step.located)
            case _:
                return

    def under_way(self, states: Iterable[int]) -> Iterator[_Site]:
        """The sites that a rank may come to, or of which a step may be pending, at one of ``states``."""
        states = list(states)
        for state in states:
            yield from self._at_state.get(state, ())
        for number in members(reduce(or_, (self._pending[state].transfers for state in states), 0)):
            yield from self._of_transfer.get(number, ())

    def met(self, others: Sequence[Touched]) -> Iterator[tuple[_Site, int]]:
        """The sites with those of their cells at which one may meet another that is not atomic with it, of this rank or
        of those that do ``others`` while it is at a control state."""
        for state, of_others in enumerate(others):
            for site in self.under_way([state]):
                yield site, site.cells & (of_others.read if site.how else of_others.written)
            for later in self._at_state.get(state, ()):
                for number in members(self._pending[state].transfers):
                    for earlier in self._of_transfer.get(number, ()):
                        if (earlier.how is None) != (later.how is None) and not self._in_order(earlier, later):
                            yield earlier, earlier.cells & later.cells
                            yield later, earlier.cells & later.cells

    def _in_order(self, earlier: _Site, later: _Site) -> bool:
        """Whether one is over before the other begins: both are located, or an atomic follows a put in one FIFO queue,
        where a put may overtake an atomic before it."""
        if earlier.located and later.located:
            return True
        if earlier.how is not Writing.PUT or later.number < 0:
            return False
        one, other = (self._transfers.queues[site.number] for site in (earlier, later))
        return one is not None and one == other and not self._instance.is_unordered(one)


def _fetches(form: core.Form) -> bool:
    """Whether a command both needs the value of a cell and changes it."""
    match form:
        case core.Immediate(access, _, update):
            return update is not None and access.reads
        case core.Transfer(steps=steps, update=update):
            return update is not None and (update.reads or steps[-1].kind == "popc")
        case _:
            return False


def _atomic(transition: Transition) -> str:
    """The type in which the command is atomic at its target, "" for a plain one."""
    return transition.command.atomic if isinstance(transition.command, Accessing) else ""
