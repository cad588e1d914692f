"""What the fixpoints for all sources share: the phases between barriers, and which commands conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.graphs import blocks, reached
from pgasrob.robustness.reduction.abstract_commands import Accesses, Commands
from pgasrob.robustness.reduction.pairwise import Pairwise, Token, Views
from pgasrob.stop_points import stop_point

PHASES = 16
"""Phases from one barrier to the next, counted from the start, that are kept apart; the last one stands for all that
follow."""
WIDE = 100
"""Accesses that one access may conflict with, up to which it is looked up by each of them."""


class Setting:
    """What the fixpoints of all sources share; with ``views`` they know of two ranks at once, and
    of the ``tokens``.

    ``of``: the commands of every rank and control state. ``accessing``: all that access something, as (rank, state,
    command). ``phases``: for every phase and every rank the control states it may be in. ``looks``: commands looked at
    so far.
    """

    def __init__(
        self,
        commands: Commands,
        views: Views | None = None,
        pairs: Pairwise | None = None,
        tokens: Sequence[Token] = (),
    ) -> None:
        self.looks = 0
        self.views, self.pairs, self.tokens = views, pairs, tokens
        self.commands = commands.of
        self.nodes = len(commands.of)
        self.completion, self.many = commands.completion, commands.many
        self.waited_for, self.threads = commands.waited_for, commands.threads
        self.phases = self._phases()
        self._states_of_others: dict[tuple[int, ...], list[set[int]]] = {}
        self._sides: list[list[int]] | None = None
        self._making: dict[int, list[int]] | None = None
        self._cells, self._names = commands.cells, commands.names
        self._planes = [commands.cells * plane for plane in range(2 + commands.kinds)]
        self.accessing = [
            (rank, state, command)
            for rank, automaton in enumerate(self.commands)
            for state, leaving in enumerate(automaton)
            for command in leaving
            if command.possible and command.accesses
        ]
        self._conflicting: dict[int, list[int]] = {}
        # Commands with an access that may be to very many cells, by what it conflicts with.
        self._anywhere: dict[Accesses, list[int]] = {}
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
        ``rank`` taints ranks which have nothing to do with the ranks that access the source's cells.
        """
        if self.many:
            return -1  # a name for several ranks would have several places in the graph
        if self._sides is None:
            self._sides = self._found_sides()
        sides = [cells for cells in self._sides[rank] if self._cells_of(source) & cells]
        # An access of another rank to a cell may conflict with one of its names alone.
        first = self._cells - len(self._names)
        named = [1 << first + place for place, cell in enumerate(self._names) if any(own >> cell & 1 for own in sides)]
        return reduce(or_, (cells << plane for cells in [*sides, *named] for plane in self._planes), 0)

    def _found_sides(self) -> list[list[int]]:
        """For every rank the cells that it accesses, together those between which other ranks lead."""
        accessed = [0] * self.nodes
        for rank, _, command in self.accessing:
            accessed[rank] |= command.accesses
        cells = [self._cells_of(accesses) for accesses in accessed]
        if sum(map(int.bit_count, cells)) > WIDE * len(cells):
            return [[each] for each in cells]  # as most are accessed by many, nothing is far from anything
        nodes = len(cells)
        neighbours = [[nodes + cell for cell in members(each)] for each in cells]
        neighbours += [[] for _ in range(self._cells)]
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
        """The cells that are accessed, without further names."""
        cells = reduce(or_, (accesses >> plane for plane in self._planes), 0)
        return cells & (1 << self._cells - len(self._names)) - 1

    def states_of_others(self, rank: int, state: int) -> list[set[int]]:
        """Where each rank may be while ``rank`` is before ``state``: in the same phase. [] when it never is."""
        phases = tuple(number for number, phase in enumerate(self.phases) if state in phase[rank])
        if phases and phases not in self._states_of_others:
            ranks = range(self.nodes)
            self._states_of_others[phases] = [
                set().union(*(self.phases[number][other] for number in phases)) for other in ranks
            ]
        return self._states_of_others.get(phases, [])

    def after_barriers(self, rank: int, states: Iterable[int]) -> set[int]:
        """The control states after the barriers at ``states`` of ``rank``."""
        leaving = (command for state in states for command in self.commands[rank][state])
        return {command.target for command in leaving if isinstance(command.operands, core.Barrier)}

    def _phases(self) -> list[list[set[int]]]:
        """The phases from one barrier to the next; what is in the last of `PHASES` holds for all that follow. With
        threads there is one phase, of all that a rank ever does."""
        phases: list[list[set[int]]] = []
        starts = [{0} for _ in self.commands]
        while all(starts):
            stop_point()
            phase = [self._before_barrier(rank, states) for rank, states in enumerate(starts)]
            if self.threads:
                return [phase]
            if len(phases) == PHASES:
                last = phases.pop()
                phase = [known | states for known, states in zip(last, phase, strict=True)]
                if phase == last:
                    return [*phases, last]
            elif phase in phases:
                return phases
            phases.append(phase)
            starts = [self.after_barriers(rank, states) for rank, states in enumerate(phase)]
        return phases

    def _before_barrier(self, rank: int, states: set[int]) -> set[int]:
        """The control states that ``rank`` can come to from ``states`` without a barrier."""

        def after(state: int) -> Iterator[int]:
            for command in self.commands[rank][state]:
                if command.possible and (self.threads or not isinstance(command.operands, core.Barrier)):
                    yield command.target

        return reached(states, after)
