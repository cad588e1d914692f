"""Checks that the evidence on values is closed under commands, and says what each command may do.

The evidence has register files for every rank, or name of ranks, and control state, in which registers may be unknown,
and the control states that ranks may be in between two barriers. It says of memory at most what cells may hold.

The delayed steps of a rank are summarised by *facts* (R1, in full in `proofs/state-space.md`, section 5), each a tuple:
``pending``, ``local`` (a queue), ``stage`` (queue, stage), ``fenced``, ``bound`` (queue, target), ``written`` (target),
``bundled``, ``located`` (cell). None stands for an unknown value, and no fact has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from pgasrob.certificates.check.names import Case, File, Value, linear
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Place, Role
from pgasrob.program.expressions import Fault, faults_inside
from pgasrob.program.instance import Instance
from pgasrob.semantics.effect import put

MOST = 256
"""Phases, register files at a control state, ways of a place that evidence may have: all pairs are examined."""
Files = Sequence[Sequence[tuple[frozenset[int], frozenset[File]]]]
"""Of each rank, at each control state: the registers that are unknown in all files, and the files."""
Held = Sequence[Set[int | None]]
"""For each address the values that its cells may hold; None among them: any value."""
Phases = Sequence[Sequence[frozenset[int]]]
"""For each phase and rank the control states that it may be in between two barriers."""
Fact = tuple[Any, ...]
Facts = frozenset[Fact]
Touch = tuple[int, str]
"""An access that was made: the cell, and ``r``, ``w`` or the kind of an update. One that reads and writes is two."""
Touched = frozenset[Touch]


class Reach(NamedTuple):
    """The possibilities of one access of a command: the accesses that it may be, those that conflict with one of them,
    and its ``cell`` when only one is possible."""

    touches: Touched
    conflicts: Touched
    cell: int | None

    def may_hit(self, touched: Touched) -> bool:
        return not self.conflicts.isdisjoint(touched)

    def must_hit(self, touched: Touched) -> bool:
        return self.cell is not None and self.may_hit(touched)


def may_hit(chain: Iterable[Reach], touched: Touched) -> bool:
    """Whether some access may be in conflict with one of ``touched``."""
    return any(each.may_hit(touched) for each in chain)


@dataclass(frozen=True)
class Command:
    """The possible effects of a transition with a register ``file``: the files after it (``left``; none: it is never
    issued), the accesses at its issue (``bound``) and those of its steps, and the rank and queue that it names. ``at``:
    its rank, control state, and place there. ``legal``: it never faults. ``stores``: pairs of an address and a value
    that it may write there, None: any."""

    instance: Instance = field(compare=False)
    at: tuple[int, int, int]
    transition: Transition = field(compare=False)
    file: File = field(compare=False)
    left: tuple[File, ...] = field(compare=False, default=())
    bound: tuple[Reach, ...] = ()
    steps: tuple[Reach, ...] = ()
    to: Value = None
    queue: Value = None
    legal: bool = False
    stores: frozenset[tuple[int, int | None]] = field(compare=False, default=frozenset())

    @property
    def is_barrier(self) -> bool:
        return isinstance(self.transition.form, core.Barrier)

    @cached_property
    def chain(self) -> tuple[Reach, ...]:
        return self.bound + self.steps

    @cached_property
    def _order(self) -> list[list[tuple[Fact, bool, bool]]]:
        """For each step the facts of R1, each with whether it holds after the step is delayed, and whether the step has
        to wait while it holds."""
        queue, to, form, instance = self.queue, self.to, self.transition.form, self.instance
        fifo, everywhere = queue not in instance.unordered, isinstance(form, core.Transfer) and form.everywhere
        return [
            [
                (("pending", queue), True, False),
                (("local", queue), step.local, False),
                (("stage", queue, step.stage), fifo, fifo),
                (("fenced", queue, to), step.fenced and not fifo, step.after_writes),
                (("bound", queue, to), False, step.fenced and not fifo),
                (("written", to), step.fenced and instance.notifies_everywhere, step.after_writes and everywhere),
                (("bundled",), instance.signals, step.after_bundle),
                (("located", reach.cell), step.located, step.located),
            ]
            for step, reach in zip(core.steps_of(form), self.steps, strict=True)
        ]

    def ready(self, facts: Facts) -> int:
        """The number of its steps before the first that has to wait for a delayed one."""
        late = (place for place, rows in enumerate(self._order) for fact, _, waits in rows if waits and fact in facts)
        return next(late, len(self.steps))

    def after(self, facts: Facts, first: int) -> Facts:
        """The facts after it when its steps from ``first`` on are delayed."""
        match self.transition.form:
            case core.Bundle():
                return facts - {("bundled",)}
            case core.Fence(rank=rank):
                fenced = {fact[2] for fact in facts if fact[:2] == ("fenced", self.queue)}
                return facts | {("bound", self.queue, to) for to in fenced if rank is None or to == self.to}
        new = {fact for rows in self._order[first:] for fact, holds, _ in rows if holds and None not in fact}
        return facts | new

    def waits(self, facts: Facts) -> bool:
        """Whether it is a wait for a step that is delayed."""
        form = self.transition.form
        return isinstance(form, core.Wait) and ("local" if form.local else "pending", self.queue) in facts


def touches(chain: Iterable[Reach]) -> Touched:
    """The union of what some accesses may be."""
    return frozenset(touch for each in chain for touch in each.touches)


class Known(NamedTuple):
    """The knowledge about an attack and a rank: the possible accesses of the source, those that may be in t (``done``)
    and in t or d (``made``), those certainly in d (``delayed``), and the facts about the rank's delayed steps.

    Where the rank is not in T, none of its own accesses count as ``done`` or ``made``.
    """

    source: Touched
    tainted: bool
    done: Touched
    made: Touched
    delayed: Touched
    facts: Facts

    def closes(self, command: Command) -> bool:
        """Whether the command may be e: (m2) of `proofs/attack.md`, E1 and E2 of `proofs/reductions.md`."""
        chain = command.chain
        for place, each in enumerate(chain[: len(command.bound) + command.ready(self.facts)], 1):
            enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)
            if enters and each.may_hit(self.source):
                return True
        return False

    def goes_on(self, command: Command) -> Iterator[tuple[int, bool]]:
        """The ways in which the command may be one of sigma: an upper bound of its steps that happen now, and whether
        it joins T; (m3) and (m3'), F2 and F4 to F6."""
        if command.waits(self.facts) or any(each.must_hit(self.delayed) for each in command.bound):
            return
        entered = self.tainted or may_hit(command.chain, self.done)
        hit = [place for place, each in enumerate(command.steps) if each.may_hit(self.made)]
        stops = [place for place, each in enumerate(command.steps) if each.must_hit(self.delayed)]
        first = min([command.ready(self.facts), *stops, *([] if entered else hit[-1:])])
        yield first, entered or bool(hit)
        for place, each in enumerate(command.steps[:first]):
            if any(way not in ("r", "w") for _, way in each.touches & self.source):
                yield place, True


class Values:
    """The evidence: ``memory`` has the values that the cells of each address may hold, at any rank; the last of the
    ``phases`` is followed by the one with number ``back``."""

    def __init__(self, case: Case, files: Files, memory: Held, phases: Phases, back: int) -> None:
        self.case, self.instance, self.files, self.memory = case, case.instance, files, memory
        self.phases, self.back = phases, back
        if max(len(phases), *(len(found) for own in files for _, found in own)) > MOST:
            raise ValueError(f"more than {MOST} phases, or register files at a control state")
        self.issue, self.possible, self.touched = cache(self._issue), cache(self._possible), cache(self._touched)

    def demands(self) -> Iterator[str]:
        """Descriptions of what the evidence lacks; none when it is closed."""
        ranks = range(self.instance.nodes)
        reached = [(0, rank, 0, self._hidden(rank, 0, self.instance.registers)) for rank in ranks]
        for number, phase in enumerate(self.phases):
            leaving = [[each for state in phase[rank] for each in self._leaving(rank, state)] for rank in ranks]
            passed = all(any(each.is_barrier for each in own) for own in leaving)
            for each in (each for own in leaving for each in own):
                into = number if not each.is_barrier else number + 1 if number + 1 < len(self.phases) else self.back
                if passed or not each.is_barrier:
                    reached += [(into, each.at[0], each.transition.target, file) for file in each.left]
        for into, rank, state, file in reached:
            if state not in self.phases[into][rank] or file not in self.files[rank][state][1]:
                yield f"control state {state} of rank {rank} in phase {into} with registers {file}"
        stores = [pair for each in self.commands for pair in each.stores]
        for cell, value in (*enumerate(self.instance.memory), *stores):
            if self.memory[cell % self.instance.size].isdisjoint({value, None}):
                yield f"{value} in address {cell % self.instance.size}"

    def _hidden(self, rank: int, state: int, file: File) -> File:
        """The part of a register file that the evidence has at a control state."""
        unknown, _ = self.files[rank][state]
        return tuple(None if index in unknown else value for index, value in enumerate(file))

    def issued(self, rank: int, state: int, file: File) -> list[Command]:
        """The effects that the transitions of a rank at a control state may have with a register file."""
        return [self.issue(rank, state, place, file) for place in range(len(self.instance.automata[rank].out[state]))]

    def _leaving(self, rank: int, state: int) -> Iterator[Command]:
        return (each for file in self.files[rank][state][1] for each in self.issued(rank, state, file))

    def _possible(self, rank: int, state: int) -> list[Command]:
        """The commands that may be issued at a control state, without the register files after them."""
        return list(dict.fromkeys(each for each in self._leaving(rank, state) if each.left))

    @cached_property
    def commands(self) -> list[Command]:
        """The effects that all transitions may have with all register files."""
        states = ((rank, state) for rank, own in enumerate(self.instance.automata) for state in range(len(own.out)))
        return [each for at in states for each in self._leaving(*at)]

    @property
    def sources(self) -> list[tuple[Command, int]]:
        """Every step that may be chosen as the source; where there is a rest it is one of the first name."""
        chosen = (each for each in dict.fromkeys(self.commands) if each.at[0] == 0 or not self.case.rest)
        return [(command, step) for command in chosen for step in range(len(command.steps))]

    def _issue(self, rank: int, state: int, place: int, file: File) -> Command:
        """The effect that a transition may have with a register file."""
        transition, size = self.instance.automata[rank].out[state][place], self.instance.size
        about = self.instance, (rank, state, place), transition, file
        form, never, name = transition.form, Command(*about), self.case.names[rank]
        ends = {Role.RANK: name.domain.last(0), Role.ADDRESS: linear(size - 1), Role.QUEUE: linear(1 << 64)}
        named, legal = list[tuple[Role, Value]](), True
        for role, expr in core.expressions(form):
            try:
                operand = name.domain.value(expr, file, name.me)
            except Fault:
                return never
            named.append((role, operand))
            if operand is None:
                legal = legal and role is Role.VALUE and not faults_inside(expr)
            elif role in ends:
                for low, high in map(name.domain.range, (operand, ends[role].plus(linear(operand), -1))):
                    legal = legal and low >= 0
                    if high < 0:
                        return never
        to, queue, value = (dict(named).get(role) for role in (Role.RANK, Role.QUEUE, Role.VALUE))
        known = [(role, each if isinstance(each, int) else None) for role, each in named]
        operands = frozenset(each for role, each in known if role is Role.VALUE)
        addresses = [range(size) if at is None else range(at, at + 1) for role, at in known if role is Role.ADDRESS]
        left, held = [file], frozenset().union(*(self.memory[each] for within in addresses for each in within))
        match form:
            case core.Test(blocks=True) if value == 0:
                return replace(never, legal=legal)
            case core.Assign(register):
                left = [put(file, register, value)]
            case core.Immediate(register=int(register)):
                left = [put(file, register, each) for each in held]
        files = tuple(dict.fromkeys(self._hidden(rank, transition.target, each) for each in left))
        accesses = list(zip(core.accesses_of(form), addresses, strict=True))
        chain = tuple(self._reach(rank, access, to, within) for access, within in accesses)
        bound = len(chain) - len(core.steps_of(form))
        # Without an update, or with one that chooses, it writes a value that it read or was given.
        update = getattr(form, "update", None)
        written = held | operands if update is None or update.operation in core.CHOOSING else {None}
        stores = frozenset((at, each) for access, of in accesses if access.writes for at in of for each in written)
        return Command(*about, files, chain[:bound], chain[bound:], to, queue, legal, stores)

    def _reach(self, rank: int, access: core.Access[Place], target: Value, addresses: range) -> Reach:
        """The possibilities of an access. A rest has two cells for each address: one that stands for accesses of its
        ranks to their own memory, which do not conflict with each other, and one for all others; neither is certain."""
        names, size = self.case.names, self.instance.size
        to = names[rank].me if access.cell.rank is None else target
        ranks = tuple(self.case.named(rank, to))
        own = tuple(len(names) + each for each in ranks if names[each].rest)
        is_own = own and to == names[rank].me and not access.commutes
        ways = (access.commutes,) if access.commutes else ("r",) * access.reads + ("w",) * access.writes
        touches = self.touched(own if is_own else ranks, addresses, ways)
        every = ("r", "w", *self.instance.update_kinds)
        conflicting = tuple(way for way in every if any(way != each or way == "w" for each in ways))
        conflicts = self.touched(ranks if is_own else ranks + own, addresses, conflicting)
        certain = not own and len(ranks) * len(addresses) == 1
        return Reach(touches, conflicts, ranks[0] * size + addresses[0] if certain else None)

    def _touched(self, ranks: tuple[int, ...], addresses: range, ways: tuple[str, ...]) -> Touched:
        size = self.instance.size
        return frozenset((rank * size + each, way) for rank in ranks for each in addresses for way in ways)
