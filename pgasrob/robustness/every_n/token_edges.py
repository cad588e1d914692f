"""Commands as the search for tokens sees them, and what a rank has (`proofs/every-n.md`, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from pgasrob.program import core
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import Expr
from pgasrob.robustness.every_n.linear import Value
from pgasrob.robustness.every_n.named_commands import Ranks, Target
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction.abstract_commands import Command, Commands
from pgasrob.stop_points import stop_point

T = TypeVar("T")

NOTHING, WAITING, HOLDING, CLEAR = range(4)
"""What a rank has at a state at least: nothing; the token if it lies in its own cell; the token; the token, and it does
not lie in its own cell."""


class Write(NamedTuple):
    """Access number ``access`` of a command may write ``value`` to ``place``, one of ``slots`` of ``target``."""

    access: int
    place: Place
    target: Target
    slots: Sequence[int]
    value: Value


class Edge(NamedTuple):
    """A command of a rank before ``state``. ``read``: what it reads at its issue, if anything; ``sure``: it writes then
    whatever it finds, or finds what it expects."""

    rank: int
    state: int
    command: Command
    form: Form
    read: tuple[Target, Sequence[int], Value] | None
    writes: Sequence[Write]
    sure: bool

    @property
    def immediate(self) -> bool:
        """Whether all that the command does happens at its issue."""
        return isinstance(self.form, core.Immediate)


class Cell(NamedTuple):
    """The cell with number ``slot`` in the memory of each rank, in which a token may lie that the rank waits for: while
    it holds a value in ``full``."""

    slot: int
    full: Value


class Edges:
    """The commands of all names and states, ``of`` each and together (``all``)."""

    def __init__(self, unfolded: Unfolded, ranks: Ranks, commands: Commands) -> None:
        self.unfolded, self._ranks, self.many = unfolded, ranks, commands.many
        self.of = [
            [
                [self._edge(rank, state, place, each) for place, each in enumerate(leaving) if each.possible]
                for state, leaving in enumerate(of)
            ]
            for rank, of in enumerate(commands.of)
        ]
        self.all = [edge for of in self.of for leaving in of for edge in leaving]

    def _edge(self, rank: int, state: int, place: int, command: Command) -> Edge:
        unfolded = self.unfolded
        form, value = unfolded.ranks[rank].automaton.out[state][place].form, unfolded.read[rank][state][place]
        read = None
        if isinstance(form, core.Immediate) and value is not None:
            read = (*self._located(rank, state, form.access.cell), value)
        found = unfolded.writes(rank, state, form, None if value is None else (0, value))
        writes = [Write(access, cell, *self._located(rank, state, cell), written) for access, cell, written in found]
        sure = isinstance(form, core.Immediate) and self._always_writes(rank, state, form, value)
        return Edge(rank, state, command, form, read, writes, sure)

    def _always_writes(self, rank: int, state: int, form: core.Immediate[Place, Expr], read: Value | None) -> bool:
        update = form.update
        if update is None or update.operation != "compare_swap" or update.expected is None:
            return update is not None and update.operation in ("set", "add")
        return read is not None and read[0] == read[1] and read == self.unfolded.operand(rank, state, update.expected)

    def _located(self, rank: int, state: int, cell: Place) -> tuple[Target, Sequence[int]]:
        return self._ranks.place(rank, state, cell), self.unfolded.slots(rank, state, cell.address)

    # Values

    def is_cell(self, slots: Sequence[int]) -> bool:
        """Whether these slots are one cell: of what grows, one slot has many."""
        return len(slots) == 1 and slots[0] < self.unfolded.layout.cells

    def may_be(self, rank: int, value: Value, among: Value) -> bool:
        return self.unfolded.values[rank].may_be("==", value, among)

    def is_surely(self, rank: int, value: Value, among: Value) -> bool:
        domain = self.unfolded.values[rank].domain
        return domain.always(among[0], value[0]) and domain.always(value[1], among[1])

    # What a rank has

    def followed(
        self, rank: int, first: T, after: Callable[[Edge, T], T], at_least: Callable[[T, T], T]
    ) -> list[T | None]:
        """What a rank has at each of its states at least, by ways ``after`` each command, that begins with ``first``;
        ``at_least``: what it has that has one of two; None where it does not come."""
        found: list[T | None] = [None] * len(self.of[rank])
        found[0] = first
        left = [0]
        while left:
            stop_point()
            state = left.pop()
            before = found[state]
            for edge in self.of[rank][state]:
                assert before is not None, "only what is reached is followed"
                old, new = found[edge.command.target], after(edge, before)
                new = new if old is None else at_least(old, new)
                if new != old:
                    found[edge.command.target] = new
                    left.append(edge.command.target)
        return found

    # The cell in which a token may lie

    def cells(self) -> list[Cell]:
        """The cells of a rank's own that it reads, each with values that one command finds there."""
        found = {
            Cell(slots[0], value): None
            for target, slots, value in (edge.read for edge in self.all if edge.read)
            if target.own and self.is_cell(slots) and value[0].x == value[1].x == 0
        }
        return list(found)

    def puts(self, edge: Edge, cell: Cell) -> list[Write]:
        """The accesses of a command that may put a token into the cell of a rank, but for what one stores in its
        own."""
        return [
            write
            for write in edge.writes
            if cell.slot in write.slots
            and self.may_be(edge.rank, write.value, cell.full)
            and not (edge.immediate and is_own(write.target, write.slots, cell.slot))
        ]

    def after_own(self, edge: Edge, cell: Cell, has: int) -> int:
        """What a rank has once it has read or stored to its own cell at the issue of a command."""
        if edge.read is not None and is_own(edge.read[0], edge.read[1], cell.slot):
            if not self.may_be(edge.rank, edge.read[2], cell.full):
                has = _emptied(has)
            elif has == WAITING and self.is_surely(edge.rank, edge.read[2], cell.full):
                has = HOLDING
        for write in edge.writes:
            if edge.immediate and is_own(write.target, write.slots, cell.slot):
                if self.may_be(edge.rank, write.value, cell.full):
                    has = min(has, HOLDING) if has >= HOLDING else NOTHING
                elif edge.sure:
                    has = _emptied(has)
        return has


def at_least(one: int, other: int) -> int:
    """What a rank has that has one of the two. Who may have the token in its own cell yet, though it has taken it, does
    not wait for it: it would find it there again."""
    return NOTHING if {one, other} == {WAITING, HOLDING} else min(one, other)


def is_own(target: Target, slots: Sequence[int], slot: int) -> bool:
    """Whether an access is to this cell of the rank's own."""
    return target.own and [*slots] == [slot]


def after_put(has: int) -> int:
    """What a rank has once it has put the token somewhere."""
    return WAITING if has == CLEAR else NOTHING


def _emptied(has: int) -> int:
    """What a rank has whose own cell is known not to hold the token."""
    return CLEAR if has >= HOLDING else WAITING
