"""Which control states ranks come to with which registers, and so what each command may access: checked to be closed.

The evidence has register files for every rank, or name of ranks, and control state, in which registers may be unknown,
and the control states that ranks may be in between two barriers. Of memory nothing is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import TypeVar

from pgasrob.certificates.check.commands import Command, Reach, Touched, meets, ways
from pgasrob.certificates.check.names import NODES, Case, File, Value, linear
from pgasrob.program import core
from pgasrob.program.core import Place, Role
from pgasrob.program.expressions import Fault, faults_inside

T = TypeVar("T")
Files = tuple[frozenset[int], frozenset[File]]
"""At a control state: the registers that are unknown in all files, and the files."""
Phase = Sequence[frozenset[int]]
"""For each rank the control states that it may be in between two barriers."""
Source = tuple[int, int, int, int]
"""Rank, control state, place of the transition there, number of the step."""


def put(row: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """``row`` with another value at one place."""
    return (*row[:index], value, *row[index + 1 :])


class Values:
    """The evidence; behind the last of the ``phases`` comes that with number ``back``."""

    def __init__(self, case: Case, files: Sequence[Sequence[Files]], phases: Sequence[Phase], back: int) -> None:
        self.case, self.instance = case, case.instance
        self.files, self.phases, self.back = files, phases, back
        self.issue, self.possible, self.touched = cache(self._issue), cache(self._possible), cache(self._touched)

    def demands(self) -> Iterator[tuple[int, int, int, File]]:
        """What is missing, by phase, rank and control state; nothing when the evidence is closed."""
        ranks = range(self.instance.nodes)
        reached = [(0, rank, 0, self._hidden(rank, 0, self.instance.registers)) for rank in ranks]
        for number, phase in enumerate(self.phases):
            leaving = [[each for state in phase[rank] for each in self._leaving(rank, state)] for rank in ranks]
            passed = all(any(each.is_barrier for each in own) for own in leaving)
            later = number + 1 if number + 1 < len(self.phases) else self.back
            for rank in ranks:
                for each in leaving[rank]:
                    into = later if each.is_barrier else number
                    if passed or not each.is_barrier:
                        reached += [(into, rank, each.transition.target, file) for file in each.files]
        for into, rank, state, file in reached:
            if state not in self.phases[into][rank] or not self.has(rank, state, file):
                yield into, rank, state, file

    def has(self, rank: int, state: int, file: File) -> bool:
        return file in self.files[rank][state][1]

    def _hidden(self, rank: int, state: int, file: File) -> File:
        """What of a file is known at a control state."""
        unknown, _ = self.files[rank][state]
        return tuple(None if index in unknown else value for index, value in enumerate(file))

    def issued(self, rank: int, state: int, file: File) -> list[Command]:
        """What the transitions of a rank from a control state may do with a file."""
        return [self.issue(rank, state, place, file) for place in range(len(self.instance.automata[rank].out[state]))]

    def _leaving(self, rank: int, state: int) -> Iterator[Command]:
        return (each for file in self.files[rank][state][1] for each in self.issued(rank, state, file))

    def _possible(self, rank: int, state: int) -> list[Command]:
        """Those that may be issued at a control state, but for what files they leave."""
        return list(dict.fromkeys(each for each in self._leaving(rank, state) if each.files))

    @cached_property
    def _everywhere(self) -> list[tuple[int, int]]:
        """The ranks with their control states."""
        return [(rank, state) for rank, own in enumerate(self.instance.automata) for state in range(len(own.out))]

    @property
    def may_fault(self) -> bool:
        """Whether some command may have no value."""
        return not all(each.legal for at in self._everywhere for each in self._leaving(*at))

    @cached_property
    def sources(self) -> dict[Source, list[Command]]:
        """Every step that may be chosen as the source, with the commands that it may be of; where there is a rest it is
        one of the first name."""
        found: dict[Source, list[Command]] = defaultdict(list)
        for command in (
            each
            for rank, state in self._everywhere
            if rank == 0 or not self.case.rest
            for each in self.possible(rank, state)
        ):
            for step in range(len(command.steps)):
                found[*command.at, step].append(command)
        return found

    def _issue(self, rank: int, state: int, place: int, file: File) -> Command:
        """What a transition may do with a file."""
        at, transition = (rank, state, place), self.instance.automata[rank].out[state][place]
        try:
            named, addresses, legal = self._operands(rank, transition.form, file)
        except Fault:
            return Command(at, transition, self.instance, files=(), legal=False)
        to, value = named.get(Role.RANK), named.get(Role.VALUE)
        accesses = zip(core.accesses_of(transition.form), addresses, strict=True)
        chain = tuple(self._reach(rank, access, to, within) for access, within in accesses)
        files: list[File] = [file]
        match transition.form:
            case core.Assign(register):
                files = [put(file, register, value)]
            case core.Test(blocks=True) if value == 0:
                files = []
            case core.Immediate(register=int(register)):
                files = [put(file, register, None)]
        left = tuple(self._hidden(rank, transition.target, each) for each in files)
        return Command(at, transition, self.instance, left, chain, to, named.get(Role.QUEUE), legal)

    def _operands(self, rank: int, form: core.Form, file: File) -> tuple[dict[Role, Value], list[range], bool]:
        """What is known of the operands, between what the addresses are, and whether all always have a value. Raises
        ``Fault`` when one never has."""
        name, size = self.case.names[rank], self.instance.size
        ends = {Role.RANK: [NODES.plus(linear(1), -1)], Role.ADDRESS: [linear(size - 1)]}
        named: dict[Role, Value] = {}
        addresses, legal = [], True
        for role, expr in core.expressions(form):
            value = named[role] = name.domain.value(expr, file, name.me)
            low, high = 0, size - 1
            if value is None:
                legal = legal and role is Role.VALUE and not faults_inside(expr)
            elif role is not Role.VALUE:
                low, high = name.domain.range(value)
                margins = [(low, high), *(name.domain.range(end.plus(linear(value), -1)) for end in ends.get(role, ()))]
                legal = legal and all(least >= 0 for least, _ in margins)
                if any(most < 0 for _, most in margins):
                    raise Fault("it is out of range")
            if role is Role.ADDRESS:
                addresses.append(range(max(low, 0), min(high, size - 1) + 1))
        return named, addresses, legal

    def _reach(self, rank: int, access: core.Access[Place], target: Value, addresses: range) -> Reach:
        """What an access may be. Cells of the rest are two for each address: one for what a rank of the rest accesses
        in its own memory, where no other one of them does so, and one for all else; and are never certain."""
        names, size = self.case.names, self.instance.size
        to = names[rank].me if access.cell.rank is None else target
        ranks = tuple(self.case.named(rank, to))
        own = (len(names),) if names[ranks[-1]].rest else ()
        is_own = own and to == names[rank].me and not access.commutes
        touches = self.touched(own if is_own else ranks, addresses, ways(access))
        conflicting = tuple(way for way in ("r", "w", *self.instance.update_kinds) if meets(access, way))
        conflicts = self.touched(ranks if is_own else ranks + own, addresses, conflicting)
        certain = not own and len(ranks) * len(addresses) == 1
        cell = ranks[0] * size + addresses[0] if certain else None
        return Reach(touches, conflicts, cell, bool(access.commutes))

    def _touched(self, ranks: tuple[int, ...], addresses: range, ways: tuple[str, ...]) -> Touched:
        return frozenset(
            (rank * self.instance.size + each, way) for rank in ranks for each in addresses for way in ways
        )
