"""Infeasibility: the steps that may be worth choosing as the source of an attack, found without a search.

For every step that can be a source a fixpoint that ignores values asks what the attack search could do from there on:
which commands happen after the source's command (are tainted), and whether one of them can close the cycle. Whatever
the search can do the fixpoint can, so a step from which it finds no end is harmless.

It starts with the source's rank behind the source's command and with the other ranks anywhere between the same two
barriers. What cuts it short is what is certain: steps that are delayed stay delayed. So a wait for one of them is never
over, an immediate access that conflicts with one of them is no part of the attack (it can only be its end), and
completion rules delay steps of later commands too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from pgasrob.analysis.bits import members
from pgasrob.analysis.faults import cannot_fault
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.symmetry import symmetry
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import EVERY_QUEUE, Cell, Form, Operands, Place
from pgasrob.program.instance import Instance
from pgasrob.robustness.placement import (
    DELAYED,
    NOTHING_DELAYED,
    NOW,
    Placement,
    fenced,
    lower_bounds,
    placed,
    wait_is_over,
)

PHASES = 16
"""Phases from one barrier to the next, counted from the start, that are told apart; the last one stands for all that
follow."""
PHASES_AFTER = 4
"""The same counted from the source's command."""
WAYS = 4
"""Ways to one place that are told apart by what is certain; of any further one only what is always certain is known."""
LOOKS = 2_000_000
"""Commands looked at in all; what has not been settled by then counts as worth choosing."""

Accesses = int
"""A set of accesses: bit c for a read of cell c, and for a write of it the bit that many places above all reads."""


def choosable(instance: Instance) -> list[int]:
    """For each transition, rank by rank and state by state, the steps that may be worth choosing as a source.

    Bit i stands for step i; commands without steps have 0.
    """
    program = _Program(instance)
    alike = {rank: ranks[0] for ranks in symmetry(instance).classes for rank in ranks}
    found: list[list[int]] = []
    for rank in range(instance.nodes):
        first = alike.get(rank, rank)
        found.append(_choosable(program, rank) if first == rank else found[first])
    return [worth for of_rank in found for worth in of_rank]


def _choosable(program: _Program, rank: int) -> list[int]:
    found = []
    for state, leaving in enumerate(program.commands[rank]):
        company = program.company(rank, state)
        for command in leaving:
            worth = 0
            for step in range(len(command.in_steps) if command.possible and company else 0):
                if program.looks > LOOKS or _Attack(program, company, rank, command, step).succeeds():
                    worth |= 1 << step
            found.append(worth)
    return found


class _Reach(NamedTuple):
    """What one access may be, what it may conflict with, and whether it is certain which cell it is to."""

    accesses: Accesses
    conflicting: Accesses
    certain: bool

    def may_hit(self, accesses: Accesses) -> bool:
        return bool(accesses & self.conflicting)

    def must_hit(self, accesses: Accesses) -> bool:
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
    at_issue: _Reach | None
    in_steps: tuple[_Reach, ...]
    chain: tuple[_Reach, ...]
    accesses: Accesses
    operands: Operands | None
    possible: bool


class _Certain(NamedTuple):
    """What is certain of a tainted rank by the way it has come.

    ``placement``: steps of its operations that are delayed, and what follows for later ones. ``delayed``: what steps in
    D access, those of the source's command among them.
    """

    placement: Placement = ()
    delayed: Accesses = 0


class _Place(NamedTuple):
    """A tainted rank before a control state, and the barriers since the source's command."""

    rank: int
    state: int
    phase: int


class _Program:
    """What the fixpoints of all sources share.

    ``commands``: those of every rank and control state. ``anywhere``: all that access something, as (rank, state,
    command). ``phases``: for every phase between barriers and every rank the control states it may be in. ``looks``:
    commands looked at so far.
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
        self.anywhere = [
            (rank, state, command)
            for rank, automaton in enumerate(self.commands)
            for state, leaving in enumerate(automaton)
            for command in leaving
            if command.possible and command.accesses
        ]
        self._conflicting: list[list[int]] = [[] for _ in range(2 * len(instance.memory))]
        self._wide: list[tuple[int, _Reach]] = []  # which may be to any of many cells
        for number, (_, _, command) in enumerate(self.anywhere):
            for reach in command.chain:
                if not reach.certain:
                    self._wide.append((number, reach))
                else:
                    for bit in members(reach.conflicting):
                        self._conflicting[bit].append(number)

    def conflicting(self, accesses: Accesses) -> set[int]:
        """The places in ``anywhere`` of the commands that may conflict with one of the accesses."""
        self.looks += len(self._wide)
        found = {number for number, reach in self._wide if reach.may_hit(accesses)}
        return found.union(*(self._conflicting[bit] for bit in members(accesses)))

    def company(self, rank: int, state: int) -> list[set[int]]:
        """Where each rank may be while ``rank`` is before ``state``: in the same phase. [] when that cannot be."""
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


class _Tally:
    """What the tainted commands of each rank may have accessed."""

    def __init__(self) -> None:
        self._by_rank: dict[int, Accesses] = {}
        self._some: Accesses = 0  # by one rank or more
        self._several: Accesses = 0  # by two ranks or more

    def add(self, rank: int, accesses: Accesses) -> Accesses:
        """Note ``accesses`` of ``rank``. Returns those that are news to another rank."""
        own = self._by_rank.get(rank, 0)
        more = accesses & ~own
        if not more:
            return 0
        news = more & ~self._several
        self._several |= more & self._some
        self._some |= more
        self._by_rank[rank] = own | more
        return news

    def by_others(self, rank: int) -> Accesses:
        """The accesses of all ranks but ``rank``: what can taint it, since what it accesses itself when tainted comes
        after all that it does untainted."""
        return self._several | self._some & ~self._by_rank.get(rank, 0)


class _Attack:
    """The fixpoint for one source: step ``step`` of ``command`` of ``rank``, with the other ranks in its ``company``.

    ``done``: what tainted commands may have accessed without delay. ``made``: the same and what is delayed.
    """

    def __init__(self, program: _Program, company: list[set[int]], rank: int, command: _Command, step: int) -> None:
        self.program = program
        self.company = company
        self.rank = rank
        self.source = command.in_steps[step].accesses
        self.done, self.made = _Tally(), _Tally()
        self.news: Accesses = 0  # what may taint ranks, and has not been looked at for that
        # The commands by which untainted ranks may be tainted, and which of their steps are certainly delayed then.
        self.tainted: set[tuple[int, tuple[bool, ...]]] = set()
        self.ways: dict[_Place, set[_Certain]] = {}  # the places of tainted ranks, and what is certain there
        self.fresh: list[tuple[_Place, _Certain]] = []
        late = [place >= step for place in range(len(command.in_steps))]
        self._access(rank, command, late)
        # What is always certain, of the source's rank and of any rank.
        behind = self._behind(_Certain(), command, late)
        self.behind = behind._replace(placement=_whatever_bundles(behind.placement))
        self.certain = behind._replace(placement=())
        # For every phase the ranks that may come to its end, where that leads them, and what is certain there.
        self.arrived: list[dict[int, set[tuple[int, _Certain]]]] = [{} for _ in range(PHASES_AFTER)]
        self._go(_Place(rank, command.target, 0), behind)

    def succeeds(self) -> bool:
        """Whether some command may close the cycle."""
        closing = self.program.conflicting(self.source)
        while self.fresh or self.news:
            while self.fresh:
                place, certain = self.fresh.pop()
                for command in self.program.commands[place.rank][place.state]:
                    if command.possible and self._issue(place, certain, command):
                        return True
            if any(self._closes(number) for number in closing):
                return True
            news, self.news = self.news, 0
            for number in self.program.conflicting(news):
                self._join(number)
        return False

    def _issue(self, place: _Place, certain: _Certain, command: _Command) -> bool:
        """Let a tainted rank issue ``command``; whether it may close the cycle by that."""
        self.program.looks += 1
        if isinstance(command.operands, core.Barrier):
            self._arrive(place, command.target, certain)
            return False
        if command.operands and not wait_is_over(certain.placement, command.operands):
            return False
        if command.at_issue is not None and command.at_issue.may_hit(self.source):
            return True
        bounds = self._bounds(certain, command)
        for reach, bound in zip(command.in_steps, bounds, strict=True):
            if bound == DELAYED:
                break
            if reach.may_hit(self.source):
                return True
        if command.at_issue is not None and command.at_issue.must_hit(certain.delayed):
            return False  # it could only have been the end
        late = _late(certain, command, bounds)
        self._access(place.rank, command, late)
        self._go(place._replace(state=command.target), self._behind(certain, command, late))
        return False

    def _join(self, number: int) -> None:
        """Let a rank that is not tainted issue a command, if that may taint it."""
        self.program.looks += 1
        rank, state, command = self.program.anywhere[number]
        if rank == self.rank or state not in self.company[rank]:
            return
        done, made = self.done.by_others(rank), self.made.by_others(rank)
        late = _late(self.certain, command, [NOW] * len(command.in_steps))
        if command.at_issue is not None and command.at_issue.must_hit(self.certain.delayed):
            return  # it would be no part of the attack
        if any(reach.may_hit(done) for reach in command.chain):
            self._taint(number, late)
        else:
            # Only a delayed step can taint it, and then the step in conflict with that is delayed too.
            for first, reach in enumerate(command.in_steps):
                if reach.may_hit(made):
                    self._taint(number, [later or place >= first for place, later in enumerate(late)])

    def _taint(self, number: int, late: list[bool]) -> None:
        """Let a rank be tainted by a command; ``late`` says which of its steps are certainly delayed then."""
        rank, _, command = self.program.anywhere[number]
        if (number, tuple(late)) not in self.tainted:
            self.tainted.add((number, tuple(late)))
            self._access(rank, command, late)
            self._go(_Place(rank, command.target, 0), self._behind(self.certain, command, late))

    def _closes(self, number: int) -> bool:
        """Whether a rank that is not tainted may close the cycle by a command."""
        rank, state, command = self.program.anywhere[number]
        if rank == self.rank or state not in self.company[rank]:
            return False
        done, made = self.done.by_others(rank), self.made.by_others(rank)
        return any(
            leaving.may_hit(self.source)
            and (
                any(before.may_hit(done) for before in command.chain[: place + 1])
                or any(left.may_hit(made) for left in command.chain[place + 1 :])
            )
            for place, leaving in enumerate(command.chain)
        )

    def _arrive(self, place: _Place, target: int, certain: _Certain) -> None:
        """A tainted rank comes to a barrier. It is passed when every rank can come to it; then all are tainted."""
        phase = min(place.phase, PHASES_AFTER - 1)
        arrived = self.arrived[phase]
        if place.phase == 0:
            if place.rank != self.rank:
                return  # it comes there untainted too
            if not arrived:
                self._arrive_untainted()
        first = place.rank not in arrived
        arrived.setdefault(place.rank, set()).add((target, certain))
        if len(arrived) == self.program.instance.nodes:
            for rank, behind in arrived.items() if first else [(place.rank, {(target, certain)})]:
                for state, known in behind:
                    self._go(_Place(rank, state, phase + 1), known)

    def _arrive_untainted(self) -> None:
        """Let the other ranks come to the first barrier, with no more certain of them than of any rank."""
        for rank, states in enumerate(self.company):
            targets = self.program.behind_barriers(rank, states)
            if targets and rank != self.rank:
                self.arrived[0][rank] = {(target, self.certain) for target in targets}

    def _go(self, place: _Place, certain: _Certain) -> None:
        always = self.behind if place.rank == self.rank else self.certain
        ways = self.ways.setdefault(place, set())
        if certain in ways or always in ways:
            return
        if len(ways) == WAYS:
            certain = always
        ways.add(certain)
        self.fresh.append((place, certain))

    def _access(self, rank: int, command: _Command, late: Sequence[bool]) -> None:
        """Note what a tainted command accesses; ``late`` says which of its steps are certainly delayed."""
        done = command.accesses
        if any(late):
            now = [command.at_issue] if command.at_issue else []
            now += [reach for reach, delayed in zip(command.in_steps, late, strict=True) if not delayed]
            done = _union(now)
        self.news |= self.done.add(rank, done) | self.made.add(rank, command.accesses)

    def _bounds(self, certain: _Certain, command: _Command) -> Sequence[int]:
        """The earliest parts in which completion rules may allow the steps of a tainted command."""
        if certain.placement and isinstance(command.operands, core.Transfer):
            return lower_bounds(self.program.instance, certain.placement, command.operands)
        return [NOW] * len(command.in_steps)

    def _behind(self, certain: _Certain, command: _Command, late: Sequence[bool]) -> _Certain:
        """What is certain behind a tainted command."""
        placement, delayed = certain
        if command.operands:
            placement = fenced(placement, command.operands)
        if any(late):
            steps = zip(command.in_steps, late, strict=True)
            delayed |= _union(reach for reach, later in steps if later and reach.certain)
            if isinstance(command.operands, core.Transfer):
                parts = [DELAYED if later else NOW for later in late]
                placement = placed(self.program.instance, placement, command.operands, parts)
        return _Certain(placement, delayed)


def _late(certain: _Certain, command: _Command, bounds: Sequence[int]) -> list[bool]:
    """Which steps of a tainted command are certainly delayed."""
    late: list[bool] = []
    for reach, bound in zip(command.in_steps, bounds, strict=True):
        late.append(any(late) or bound == DELAYED or reach.must_hit(certain.delayed))
    return late


def _whatever_bundles(placement: Placement) -> Placement:
    """What stays certain of ``placement`` when a new bundle may begin."""
    kept = ((queue, parts._replace(bundled=1) if queue == EVERY_QUEUE else parts) for queue, parts in placement)
    return tuple((queue, parts) for queue, parts in kept if parts != NOTHING_DELAYED)


def _command(instance: Instance, rank: int, state: int, transition: Transition) -> _Command:
    known, cells = ranges(instance), len(instance.memory)
    named, made = known.named(rank, state, transition), known.made(rank, state, transition)

    def reach(touched: Touched) -> _Reach:
        accessed = touched.read | touched.written
        return _Reach(
            touched.read | touched.written << cells, accessed << cells | touched.written, accessed.bit_count() == 1
        )

    at_issue = reach(made.at_issue) if made.at_issue != Touched() else None
    in_steps = tuple(map(reach, made.steps))
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
    accessed = touched.read | touched.written
    certain = accessed.bit_count() == 1
    cell = accessed.bit_length() - 1 if certain else 0
    return core.Step(
        step.kind,
        core.Access(cell, step.access.reads, step.access.writes),
        step.stage,
        step.local,
        fenced=step.fenced and aimed,
        after_writes=step.after_writes and aimed,
        after_bundle=step.after_bundle,
        located=step.located and certain,
    )


def _union(reaches: Iterable[_Reach]) -> Accesses:
    accesses = 0
    for reach in reaches:
        accesses |= reach.accesses
    return accesses


def is_settled(instance: Instance, choosable: Sequence[int]) -> bool:
    """Whether there is nothing to search: no attack can begin, and the SC runs have nothing to show.

    They show failed assertions, faults, and deadlocks where ranks wait for each other.
    """
    if any(choosable):
        return False
    return not instance.has_assertions and not instance.can_wait and cannot_fault(instance)
