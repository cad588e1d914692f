"""Infeasibility: the steps that are choosable as the source of an attack, found without a search.

For every step that can be a source a fixpoint that ignores values asks what the attack search could do from there on:
which ranks get tainted, what their commands access, and whether some command may be e. Whatever the search can do the
fixpoint can, so a step after which it finds no e is not choosable, and the search need not try it. The rules F1 to F5,
E1 and E2 named below, and the proof, are in `proofs/reductions.md`, section 2; the words in `proofs/glossary.md`.

It starts with the source's rank behind the source's command and with the other ranks, its company, anywhere between the
same two barriers. What cuts it short is what is certain: steps that are delayed stay delayed. So a wait for one of them
is never over, a command whose access at its issue must hit one of them is no part of sigma (it can only be e), and
completion rules delay steps of later commands too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple, assert_never

from pgasrob.analysis.bits import members
from pgasrob.analysis.faults import cannot_fault
from pgasrob.analysis.placement import (
    DELAYED,
    NOW,
    Placement,
    fenced,
    lower_bounds,
    placed,
    wait_is_over,
)
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.symmetry import symmetry
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Form, Operands, Place
from pgasrob.program.graphs import blocks
from pgasrob.program.instance import Instance

PHASES = 16
"""Phases from one barrier to the next, counted from the start, that are told apart; the last one stands for all that
follow."""
PHASES_AFTER = 4
"""The same counted from the source's command."""
WAYS = 4
"""Ways to one place that are told apart; of any further one only what is always certain is known."""
LOOKS = 2_000_000
"""Commands looked at in all; steps that have not been decided by then are choosable."""
WIDE = 100
"""Accesses that one access may conflict with, up to which it is looked up by each of them."""

Accesses = int
"""A set of accesses: bit c for a read of cell c, and for a write of it the bit that many places above all reads."""


def choosable(instance: Instance) -> list[int]:
    """For each transition, rank by rank and state by state, the steps that are choosable as the source.

    Bit i stands for step i; commands without steps have 0. Interchangeable ranks have the same.
    """
    program = _Program(instance)
    alike = {rank: ranks[0] for ranks in symmetry(instance).classes for rank in ranks}
    found: list[list[int]] = []
    for rank in range(instance.nodes):
        first = alike.get(rank, rank)
        found.append(_choosable(program, rank) if first == rank else found[first])
    return [steps for of_rank in found for steps in of_rank]


def _choosable(program: _Program, rank: int) -> list[int]:
    found = []
    for state, leaving in enumerate(program.commands[rank]):
        company = program.company(rank, state)
        for command in leaving:
            steps = 0
            for step in range(len(command.in_steps) if command.possible and company else 0):
                if program.looks > LOOKS or _Fixpoint(program, company, rank, command, step).finds_e():
                    steps |= 1 << step
            found.append(steps)
    return found


class _Access(NamedTuple):
    """One access of a chain: what it may be, what it may conflict with, and whether it may be to one cell only."""

    accesses: Accesses
    conflicting: Accesses
    certain: bool

    def may_hit(self, accesses: Accesses) -> bool:
        """Whether it may conflict with one of ``accesses``, which may be more than there are."""
        return bool(accesses & self.conflicting)

    def must_hit(self, accesses: Accesses) -> bool:
        """Whether it conflicts with one of ``accesses`` for certain, all of which there are."""
        return self.certain and bool(accesses & self.conflicting)


@dataclass(frozen=True, slots=True)
class _Command:
    """A transition as the fixpoint sees it.

    - ``at_issue``, ``in_steps``: what it accesses, ``chain`` one after the other, and ``accesses`` all of that.
    - ``operands``: what completion rules look at, None when they say nothing certain: the queue, or what a fence names,
      is not known. Steps to a target that is not known are not fenced, nor do they come after writes; those to a cell
      that is not known are not located.
    - ``possible``: False when it can never be issued.
    """

    target: int
    at_issue: _Access | None
    in_steps: tuple[_Access, ...]
    chain: tuple[_Access, ...]
    accesses: Accesses
    operands: Operands | None
    possible: bool


class _Way(NamedTuple):
    """What is certain of a tainted rank by one of the paths to a place.

    ``placement``: steps of its operations that are delayed, and what follows for later ones. ``delayed``: accesses that
    are in d, those of the source's command among them.
    """

    placement: Placement = ()
    delayed: Accesses = 0


class _Place(NamedTuple):
    """A tainted rank before a control state, and the barriers since the choice of the source."""

    rank: int
    state: int
    phase: int


class _Program:
    """What the fixpoints of all sources share.

    ``commands``: those of every rank and control state. ``accessing``: all that access something, as (rank, state,
    command). ``phases``: for every phase and every rank the control states it may be in. ``looks``: commands looked at
    so far.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.looks = 0
        self.commands = [
            [
                [_command(instance, rank, state, transition) for transition in leaving]
                for state, leaving in enumerate(automaton.out)
            ]
            for rank, automaton in enumerate(instance.automata)
        ]
        self.phases = self._phases()
        self._companies: dict[tuple[int, ...], list[set[int]]] = {}
        self._sides: list[list[int]] | None = None
        self._making: dict[int, list[int]] | None = None
        cells = len(instance.memory)
        self._planes = [cells * plane for plane in range(2 + len(instance.update_kinds))]
        self.waited_for = Planes(len(instance.memory), instance.update_kinds).bits(updates_waited_for(instance))
        self.accessing = [
            (rank, state, command)
            for rank, automaton in enumerate(self.commands)
            for state, leaving in enumerate(automaton)
            for command in leaving
            if command.possible and command.accesses
        ]
        self._conflicting: dict[int, list[int]] = {}
        self._anywhere: dict[
            Accesses, list[int]
        ] = {}  # those that may be to very many cells, by what they conflict with
        for number, (_, _, command) in enumerate(self.accessing):
            for access in command.chain:
                if access.conflicting.bit_count() > WIDE:
                    self._anywhere.setdefault(access.conflicting, []).append(number)
                else:
                    for bit in members(access.conflicting):
                        self._conflicting.setdefault(bit, []).append(number)

    def conflicting(self, accesses: Accesses) -> set[int]:
        """The places in ``accessing`` of the commands that may conflict with one of the accesses."""
        self.looks += len(self._anywhere)
        anywhere = (numbers for against, numbers in self._anywhere.items() if against & accesses)
        return set().union(*anywhere, *(self._conflicting.get(bit, ()) for bit in members(accesses)))

    def making(self, updates: Accesses) -> list[int]:
        """The places in ``accessing`` of the commands that may make one of the updates, which are waited for."""
        if self._making is None:
            self._making = {}
            for number, (_, _, command) in enumerate(self.accessing):
                for bit in members(command.accesses & self.waited_for):
                    self._making.setdefault(bit, []).append(number)
        return sorted(set().union(*(self._making.get(bit, ()) for bit in members(updates))))

    def side(self, rank: int, source: Accesses) -> Accesses:
        """The accesses of ``rank`` to the cells to which a way by other ranks leads from a cell of ``source``, its own.

        Such a way goes from a cell to a rank that accesses it, and from a rank to a cell. By its other accesses
        ``rank`` taints ranks which have nothing to do with those that access the source's cells.
        """
        if self._sides is None:
            self._sides = self._found_sides()
        sides = [cells for cells in self._sides[rank] if self._cells_of(source) & cells]
        return reduce(or_, (cells << plane for cells in sides for plane in self._planes), 0)

    def _found_sides(self) -> list[list[int]]:
        """For every rank the cells that it accesses, together those between which other ranks lead."""
        accessed = [0] * self.instance.nodes
        for rank, _, command in self.accessing:
            accessed[rank] |= command.accesses
        cells = [self._cells_of(accesses) for accesses in accessed]
        if sum(map(int.bit_count, cells)) > WIDE * len(cells):
            return [[each] for each in cells]  # as most are accessed by many, nothing is far from anything
        nodes = len(cells)
        neighbours = [[nodes + cell for cell in members(each)] for each in cells]
        neighbours += [[] for _ in self.instance.memory]
        for rank in range(nodes):
            for cell in neighbours[rank]:
                neighbours[cell].append(rank)
        number = blocks(neighbours)
        found = []
        for rank in range(nodes):
            sides: dict[int, int] = {}
            for cell in neighbours[rank]:
                block = number[rank, cell]
                sides[block] = sides.get(block, 0) | 1 << cell - nodes
            found.append(list(sides.values()))
        return found

    def _cells_of(self, accesses: Accesses) -> int:
        cells = reduce(or_, (accesses >> plane for plane in self._planes), 0)
        return cells & (1 << len(self.instance.memory)) - 1

    def company(self, rank: int, state: int) -> list[set[int]]:
        """Where each rank may be while ``rank`` is before ``state``: in the same phase. [] when it never is."""
        phases = tuple(number for number, phase in enumerate(self.phases) if state in phase[rank])
        if phases and phases not in self._companies:
            ranks = range(self.instance.nodes)
            self._companies[phases] = [
                set().union(*(self.phases[number][other] for number in phases)) for other in ranks
            ]
        return self._companies.get(phases, [])

    def behind_barriers(self, rank: int, states: Iterable[int]) -> set[int]:
        """The control states behind the barriers at ``states`` of ``rank``."""
        leaving = (command for state in states for command in self.commands[rank][state])
        return {command.target for command in leaving if isinstance(command.operands, core.Barrier)}

    def _phases(self) -> list[list[set[int]]]:
        """The phases from one barrier to the next; what is in the last of `PHASES` holds for all that follow."""
        phases: list[list[set[int]]] = []
        starts = [{0} for _ in self.commands]
        while all(starts):
            phase = [self._before_barrier(rank, states) for rank, states in enumerate(starts)]
            if len(phases) == PHASES:
                last = phases.pop()
                phase = [known | states for known, states in zip(last, phase, strict=True)]
                if phase == last:
                    return [*phases, last]
            elif phase in phases:
                return phases
            phases.append(phase)
            starts = [self.behind_barriers(rank, states) for rank, states in enumerate(phase)]
        return phases

    def _before_barrier(self, rank: int, states: set[int]) -> set[int]:
        """The control states that ``rank`` can come to from ``states`` without a barrier."""
        found, fresh = set(states), list(states)
        while fresh:
            for command in self.commands[rank][fresh.pop()]:
                if command.possible and not isinstance(command.operands, core.Barrier) and command.target not in found:
                    found.add(command.target)
                    fresh.append(command.target)
        return found


class _AccessesByRank:
    """The sets of accesses done, or made, of all ranks."""

    def __init__(self) -> None:
        self._by_rank: dict[int, Accesses] = {}
        self._some: Accesses = 0  # of one rank or more
        self._several: Accesses = 0  # of two ranks or more

    def add(self, rank: int, accesses: Accesses) -> Accesses:
        """Add ``accesses`` to those of ``rank``. Returns those that are new to another rank."""
        own = self._by_rank.get(rank, 0)
        more = accesses & ~own
        if not more:
            return 0
        new = more & ~self._several
        self._several |= more & self._some
        self._some |= more
        self._by_rank[rank] = own | more
        return new

    def by_others(self, rank: int) -> Accesses:
        """The accesses of all ranks but ``rank``. As long as it is not tainted, none in t or d is its own."""
        return self._several | self._some & ~self._by_rank.get(rank, 0)


class _Fixpoint:
    """The fixpoint for one source: step ``step`` of ``command`` of ``rank``, with the other ranks in its ``company``.

    ``done``: for each rank what its commands that are reached may have accessed without delay. ``made``: the same and
    what is delayed.
    """

    def __init__(self, program: _Program, company: list[set[int]], rank: int, command: _Command, step: int) -> None:
        self.program = program
        self.company = company
        self.rank = rank
        self.source = command.in_steps[step].accesses
        self.done, self.made = _AccessesByRank(), _AccessesByRank()
        self.new: Accesses = 0  # what may taint another rank, and has not been looked at for that
        # The commands by which ranks may be tainted, and which of their steps are certainly delayed then.
        self.joined: set[tuple[int, tuple[bool, ...]]] = set()
        self.ways: dict[_Place, set[_Way]] = {}
        self.fresh: list[tuple[_Place, _Way]] = []
        # For every phase the ranks that may come to its end, where that leads them, and by which way.
        self.arrived: list[dict[int, set[tuple[int, _Way]]]] = [{} for _ in range(PHASES_AFTER)]
        # F1
        delayed = [place >= step for place in range(len(command.in_steps))]
        way = self._behind(_Way(), command, delayed)
        # What is always certain, of the source's rank and of the others.
        self.always_of_source = way._replace(placement=fenced(way.placement, core.Bundle()))
        self.always_of_others = way._replace(placement=())
        self._issue(rank, 0, _Way(), command, delayed)

    def finds_e(self) -> bool:
        """Whether some command may be e."""
        # The source's rank goes first: where it comes to before a barrier does not depend on the others.
        if self._go_as_far_as_they_can():
            return True
        leaving = [number for number in self.program.conflicting(self.source) if self._is_in_company(number)]
        if not self.arrived[0]:
            if not leaving:
                return False  # only a command of the source's rank could be e, and it has found none
            self.new &= self.program.side(self.rank, self.source)
        self._delay_further()
        if self._go_as_far_as_they_can():
            return True
        while not any(self._may_be_e(number) for number in leaving):
            new, self.new = self.new, 0
            for number in self.program.conflicting(new):
                self._join(number)
            if self._go_as_far_as_they_can():
                return True
            if not self.new:
                return False
        return True

    def _go_as_far_as_they_can(self) -> bool:
        """Let the tainted ranks go on; whether one of their commands may be e."""
        while self.fresh:
            place, way = self.fresh.pop()
            for command in self.program.commands[place.rank][place.state]:
                if command.possible and self._go_on(place, way, command):
                    return True
        return False

    def _is_in_company(self, number: int) -> bool:
        """Whether a command is one of another rank than the source's, in its company."""
        rank, state, _ = self.program.accessing[number]
        return rank != self.rank and state in self.company[rank]

    def _go_on(self, place: _Place, way: _Way, command: _Command) -> bool:
        """F2 and E1: let a tainted rank issue ``command``; whether that may be e."""
        self.program.looks += 1
        if isinstance(command.operands, core.Barrier):
            self._arrive(place, command.target, way)
            return False
        if command.operands and not wait_is_over(way.placement, command.operands):
            return False
        if command.at_issue is not None and command.at_issue.may_hit(self.source):
            return True
        bounds = self._bounds(way, command)
        for access, bound in zip(command.in_steps, bounds, strict=True):
            if bound == DELAYED:
                break
            if access.may_hit(self.source):
                return True
        if command.at_issue is not None and command.at_issue.must_hit(way.delayed):
            return False  # it could only have been e
        self._issue(place.rank, place.phase, way, command, _delayed(way, command, bounds))
        return False

    def _join(self, number: int) -> None:
        """F4 and F5: let a rank that is not tainted issue a command, if that may taint it."""
        self.program.looks += 1
        if not self._is_in_company(number):
            return
        rank, _, command = self.program.accessing[number]
        way = self.always_of_others
        if command.at_issue is not None and command.at_issue.must_hit(way.delayed):
            return  # it could only be e
        done, made = self.done.by_others(rank), self.made.by_others(rank)
        delayed = _delayed(way, command, [NOW] * len(command.in_steps))
        if not any(access.may_hit(done) for access in command.chain):
            # Only a step that hits d can taint it, and it is delayed then: this one or one before it.
            hitting = [place for place, access in enumerate(command.in_steps) if access.may_hit(made)]
            if not hitting:
                return
            delayed = [certainly or place >= hitting[-1] for place, certainly in enumerate(delayed)]
        if (number, tuple(delayed)) not in self.joined:
            self.joined.add((number, tuple(delayed)))
            self._issue(rank, 0, way, command, delayed)

    def _delay_further(self) -> None:
        """F6: let ranks that are not tainted delay a further update of the source's kind."""
        further = self.source & self.program.waited_for
        for number in self.program.making(further) if further else ():
            rank, _, command = self.program.accessing[number]
            for step, access in enumerate(command.in_steps if self._is_in_company(number) else ()):
                if access.accesses & further:
                    delayed = [place >= step for place in range(len(command.in_steps))]
                    self._issue(rank, 0, self.always_of_others, command, delayed)

    def _may_be_e(self, number: int) -> bool:
        """E2: whether a command of the company may be e, whose rank is not tainted."""
        rank, _, command = self.program.accessing[number]
        done, made = self.done.by_others(rank), self.made.by_others(rank)
        return any(
            leaving.may_hit(self.source)
            and (
                any(before.may_hit(done) for before in command.chain[: place + 1])
                or any(left.may_hit(made) for left in command.chain[place + 1 :])
            )
            for place, leaving in enumerate(command.chain)
        )

    def _arrive(self, place: _Place, target: int, way: _Way) -> None:
        """F3: a tainted rank comes to a barrier. It is passed when every rank can come to it; then all are tainted."""
        phase = min(place.phase, PHASES_AFTER - 1)
        arrived = self.arrived[phase]
        if place.phase == 0:
            if place.rank != self.rank:
                return  # it comes there untainted too
            if not arrived:
                self._arrive_untainted()
        first = place.rank not in arrived
        arrived.setdefault(place.rank, set()).add((target, way))
        if len(arrived) == self.program.instance.nodes:
            for rank, behind in arrived.items() if first else [(place.rank, {(target, way)})]:
                for state, arriving in behind:
                    self._go(_Place(rank, state, phase + 1), arriving)

    def _arrive_untainted(self) -> None:
        """Let the other ranks come to the first barrier, with no more certain of them than always."""
        for rank, states in enumerate(self.company):
            targets = self.program.behind_barriers(rank, states)
            if targets and rank != self.rank:
                self.arrived[0][rank] = {(target, self.always_of_others) for target in targets}

    def _issue(self, rank: int, phase: int, way: _Way, command: _Command, delayed: Sequence[bool]) -> None:
        """Let a rank issue a command that is reached; ``delayed`` says which of its steps are so for certain."""
        done = command.accesses
        if any(delayed):
            now = [command.at_issue] if command.at_issue else []
            now += [access for access, later in zip(command.in_steps, delayed, strict=True) if not later]
            done = _union(now)
        self.new |= self.done.add(rank, done) | self.made.add(rank, command.accesses)
        self._go(_Place(rank, command.target, phase), self._behind(way, command, delayed))

    def _go(self, place: _Place, way: _Way) -> None:
        """Add a way to a place."""
        always = self.always_of_source if place.rank == self.rank else self.always_of_others
        ways = self.ways.setdefault(place, set())
        if way in ways or always in ways:
            return
        if len(ways) == WAYS:
            way = always
        ways.add(way)
        self.fresh.append((place, way))

    def _bounds(self, way: _Way, command: _Command) -> Sequence[int]:
        """The earliest parts in which completion rules may allow the steps of a tainted rank's command."""
        if way.placement and isinstance(command.operands, core.Transfer):
            return lower_bounds(self.program.instance, way.placement, command.operands)
        return [NOW] * len(command.in_steps)

    def _behind(self, way: _Way, command: _Command, delayed: Sequence[bool]) -> _Way:
        """The way behind a command whose steps are ``delayed`` for certain."""
        placement, accesses = way
        if command.operands:
            placement = fenced(placement, command.operands)
        if any(delayed):
            steps = zip(command.in_steps, delayed, strict=True)
            accesses |= _union(access for access, later in steps if later and access.certain)
            if isinstance(command.operands, core.Transfer):
                parts = [DELAYED if later else NOW for later in delayed]
                placement = placed(self.program.instance, placement, command.operands, parts)
        return _Way(placement, accesses)


def _delayed(way: _Way, command: _Command, bounds: Sequence[int]) -> list[bool]:
    """Which steps of a command are certainly delayed, by completion rules or since they must hit d."""
    delayed: list[bool] = []
    for access, bound in zip(command.in_steps, bounds, strict=True):
        delayed.append(any(delayed) or bound == DELAYED or access.must_hit(way.delayed))
    return delayed


def _command(instance: Instance, rank: int, state: int, transition: Transition) -> _Command:
    known, planes = ranges(instance), Planes(len(instance.memory), instance.update_kinds)
    named, made = known.named(rank, state, transition), known.made(rank, state, transition)

    def access(touched: Touched) -> _Access:
        return _Access(planes.bits(touched), planes.against(touched), touched.cells.bit_count() == 1)

    at_issue = access(made.at_issue) if made.at_issue != Touched() else None
    in_steps = tuple(map(access, made.steps))
    chain = in_steps if at_issue is None else (at_issue, *in_steps)
    operands = _for_placement(transition.form, single(named.queue), single(named.rank), made.steps)
    return _Command(transition.target, at_issue, in_steps, chain, _union(chain), operands, named.possible)


def _for_placement(form: Form, queue: int | None, target: int | None, steps: Sequence[Touched]) -> Operands | None:
    """What completion rules look at in a command with these ``steps``, ``queue`` and ``target``; None for these two
    when they are not certain."""
    match form:
        case core.Bundle() | core.Barrier():
            return form
        case core.Assign() | core.Test() | core.Immediate():
            return None
        case core.Transfer() | core.Wait() | core.Fence() if queue is None:
            return None
        case core.Transfer():
            known = tuple(_known_of(*each, target is not None) for each in zip(form.steps, steps, strict=True))
            # Where no step has to do with the target it does not matter, but there must be one.
            return core.Transfer(target or 0, queue, known, everywhere=form.everywhere)
        case core.Wait(_, local):
            return core.Wait(queue, local)
        case core.Fence(_, to):
            return None if to is not None and target is None else core.Fence(queue, None if to is None else target)
        case _:
            assert_never(form)


def _known_of(step: core.Step[Place], touched: Touched, aimed: bool) -> core.Step[Cell]:
    """``step`` to one of the cells ``touched``, as far as something certain follows from it; ``aimed``: its target is
    known."""
    accessed = touched.cells
    certain = accessed.bit_count() == 1
    cell = accessed.bit_length() - 1 if certain else 0
    return core.Step(
        step.kind,
        core.Access(cell, *step.access[1:]),
        step.stage,
        step.local,
        fenced=step.fenced and aimed,
        after_writes=step.after_writes and aimed,
        after_bundle=step.after_bundle,
        located=step.located and certain,
    )


def _union(chain: Iterable[_Access]) -> Accesses:
    accesses = 0
    for access in chain:
        accesses |= access.accesses
    return accesses


def is_settled(instance: Instance, choosable: Sequence[int]) -> bool:
    """Whether there is nothing to search: no attack can begin, and the SC runs have nothing to show.

    They show failed assertions, faults, and deadlocks where ranks wait for each other.
    """
    if any(choosable):
        return False
    return not instance.has_assertions and not instance.can_wait and cannot_fault(instance)
