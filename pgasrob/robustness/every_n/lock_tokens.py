"""Tokens: what at most one rank has, and hands on by a cell (`proofs/every-n.md`, section 4).

    p <- swap(0, tail, me); if (p != -1) { ...; await(mem[locked] == 0); }

A token lies in a cell of one rank while that holds some value, here `tail` and -1, or a rank has it at some of its
states, or it lies in a cell of a rank that waits for it, here `locked` and 0. Looking at each command by itself shows
that there never is more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.expressions import Expr
from pgasrob.robustness.every_n.linear import Value, exactly, number
from pgasrob.robustness.every_n.named_commands import Ranks, Target
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction.abstract_commands import Command, Commands
from pgasrob.robustness.reduction.pairwise import Token
from pgasrob.stop_points import stop_point

NOTHING, WAITING, HOLDING, CLEAR = range(4)
"""What a rank has at a state at least: nothing; the token if it lies in its own cell; the token; the token, and it does
not lie in its own cell."""


class _Write(NamedTuple):
    """Access number ``access`` of a command may write ``value`` to one of ``slots`` of ``target``."""

    access: int
    target: Target
    slots: Sequence[int]
    value: Value


class _Edge(NamedTuple):
    """A command of a rank before ``state``. ``read``: what it reads at its issue, if anything; ``immediate``: all that
    it does happens then; ``sure``: it writes whatever it finds, or finds what it expects."""

    rank: int
    state: int
    command: Command
    read: tuple[Target, Sequence[int], Value] | None
    writes: Sequence[_Write]
    immediate: bool
    sure: bool


class _Scheme(NamedTuple):
    """Where a token may be. It lies in slot ``free[1]`` of the rank with the name ``free[0]`` while this holds what it
    did in the beginning, or the rank named ``first`` begins with it; and in slot ``passed`` of a rank that waits while
    this holds a value in ``full``."""

    free: tuple[int, int] | None
    first: int | None
    passed: int
    full: Value


def tokens_of(unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[int]) -> list[Token]:
    """The tokens of a case whose ``commands`` are those of ``ranks``, with ``unfolded`` automata; cells hold
    ``initial`` in the beginning."""
    search = _Search(unfolded, ranks, commands, initial)
    found = {token.holding: token for scheme in search.schemes() if (token := search.token(scheme)) is not None}
    return list(found.values())


class _Search:
    def __init__(self, unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[int]) -> None:
        self._unfolded, self._ranks, self._commands = unfolded, ranks, commands
        self._initial = [exactly(number(value)) for value in initial]
        self._edges = [
            [
                [self._edge(rank, state, place, each) for place, each in enumerate(leaving) if each.possible]
                for state, leaving in enumerate(of)
            ]
            for rank, of in enumerate(commands.of)
        ]
        self._all = [edge for of in self._edges for leaving in of for edge in leaving]

    def _edge(self, rank: int, state: int, place: int, command: Command) -> _Edge:
        unfolded = self._unfolded
        form, value = unfolded.ranks[rank].automaton.out[state][place].form, unfolded.read[rank][state][place]
        read = None
        if isinstance(form, core.Immediate) and value is not None:
            read = (*self._located(rank, state, form.access.cell), value)
        found = unfolded.writes(rank, state, form, None if value is None else (0, value))
        writes = [_Write(access, *self._located(rank, state, cell), written) for access, cell, written in found]
        sure = isinstance(form, core.Immediate) and self._always_writes(rank, state, form, value)
        return _Edge(rank, state, command, read, writes, isinstance(form, core.Immediate), sure)

    def _always_writes(self, rank: int, state: int, form: core.Immediate[core.Place, Expr], read: Value | None) -> bool:
        update = form.update
        if update is None or update.operation != "compare_swap" or update.expected is None:
            return update is not None and update.operation in ("set", "add")
        return read is not None and read[0] == read[1] and read == self._unfolded.operand(rank, state, update.expected)

    def _located(self, rank: int, state: int, cell: core.Place) -> tuple[Target, Sequence[int]]:
        return self._ranks.place(rank, state, cell), self._unfolded.slots(rank, state, cell.address)

    # Where tokens may be

    def schemes(self) -> Iterator[_Scheme]:
        """What may be a token."""
        free = {
            (target.names[0], slots[0]): None
            for target, slots, _ in (edge.read for edge in self._all if edge.read)
            if target.single and self._is_cell(slots)
            if any(self._takes_free(edge, (target.names[0], slots[0])) for edge in self._all)
        }
        passed = {
            (slots[0], value): None
            for target, slots, value in (edge.read for edge in self._all if edge.read)
            if target.own and self._is_cell(slots) and value[0].x == value[1].x == 0
        }
        first = [rank for rank in range(len(self._commands.of)) if rank not in self._commands.many]
        for slot, full in (*passed, (-1, exactly(number(0)))):
            yield from (_Scheme(cell, None, slot, full) for cell in free if cell[1] != slot)
            yield from (_Scheme(None, rank, slot, full) for rank in first if slot >= 0)

    def _is_cell(self, slots: Sequence[int]) -> bool:
        return len(slots) == 1 and slots[0] < self._unfolded.layout.cells

    def _takes_free(self, edge: _Edge, free: tuple[int, int]) -> bool:
        """Whether a command takes the token out of the cell where it lies in the beginning."""
        if not edge.sure or not self._reads_free(edge, free):
            return False
        return not self._may_be(edge.rank, edge.writes[0].value, self._initial[free[1]])

    def _reads_free(self, edge: _Edge, free: tuple[int, int]) -> bool:
        """Whether a command reads that the token lies in this cell."""
        if edge.read is None:
            return False
        target, slots, value = edge.read
        return target.single and (*target.names, *slots) == free and value == self._initial[free[1]]

    def _may_be(self, rank: int, value: Value, among: Value) -> bool:
        return self._unfolded.values[rank].may_be("==", value, among)

    def _is_surely(self, edge: _Edge, value: Value, among: Value) -> bool:
        domain = self._unfolded.values[edge.rank].domain
        return domain.always(among[0], value[0]) and domain.always(value[1], among[1])

    # Who has it

    def token(self, scheme: _Scheme) -> Token | None:
        """The token of ``scheme``, if there never is more than one, and several ranks may have it."""
        has = [self._followed(rank, scheme) for rank in range(len(self._edges))]
        holding = tuple(
            sum(1 << state for state, each in enumerate(of) if each is not None and each >= HOLDING) for of in has
        )
        several = [rank for rank, states in enumerate(holding) if states]
        if len(several) < 2 and not self._commands.many.intersection(several):
            return None
        putting, needing = set[tuple[int, int]](), set[int]()
        for edge in self._all:
            before = has[edge.rank][edge.state]
            if before is None:
                continue
            puts = self._puts(edge, scheme)
            if puts and (before < HOLDING or len(puts) > 1):
                return None
            putting |= {(id(edge.command), access) for access in puts}
            takes = before < HOLDING <= self._after(edge, scheme, before)
            if takes or (edge.rank != 0 and before >= HOLDING):
                needing.add(id(edge.command))
        return Token(holding, frozenset(putting), frozenset(needing))

    def _followed(self, rank: int, scheme: _Scheme) -> list[int | None]:
        """What a rank has at each of its states at least; None where it does not come."""
        found: list[int | None] = [None] * len(self._edges[rank])
        lies = scheme.passed >= 0 and self._may_be(rank, self._initial[scheme.passed], scheme.full)
        found[0] = (HOLDING if lies else CLEAR) if scheme.first == rank else NOTHING if lies else WAITING
        left = [0]
        while left:
            stop_point()
            state = left.pop()
            before = found[state]
            for edge in self._edges[rank][state]:
                assert before is not None, "only what is reached is followed"
                old, new = found[edge.command.target], self._after(edge, scheme, before)
                if old is None or new < old:
                    found[edge.command.target] = new
                    left.append(edge.command.target)
        return found

    def _after(self, edge: _Edge, scheme: _Scheme, before: int) -> int:
        """What a rank has once it has issued a command, if it had ``before`` at least."""
        if scheme.free is not None and self._takes_free(edge, scheme.free):
            return HOLDING if before == NOTHING else max(before, CLEAR)
        if self._puts(edge, scheme):
            return WAITING if before == CLEAR else NOTHING
        after = before
        if edge.read is not None and self._is_passed(edge.read[0], edge.read[1], scheme):
            if not self._may_be(edge.rank, edge.read[2], scheme.full):
                after = _emptied(after)
            elif after == WAITING and self._is_surely(edge, edge.read[2], scheme.full):
                after = HOLDING
        for write in edge.writes:
            if edge.immediate and self._is_passed(write.target, write.slots, scheme):
                if self._may_be(edge.rank, write.value, scheme.full):
                    after = min(after, HOLDING) if after >= HOLDING else NOTHING
                elif edge.sure:
                    after = _emptied(after)
        return after

    @staticmethod
    def _is_passed(target: Target, slots: Sequence[int], scheme: _Scheme) -> bool:
        """Whether an access is to the rank's own cell in which the token may lie."""
        return target.own and [*slots] == [scheme.passed]

    def _puts(self, edge: _Edge, scheme: _Scheme) -> list[int]:
        """The accesses of a command that may put the token somewhere, but for what a rank puts into its own cell."""
        return [
            write.access
            for write in edge.writes
            if (
                scheme.passed in write.slots
                and self._may_be(edge.rank, write.value, scheme.full)
                and not (edge.immediate and self._is_passed(write.target, write.slots, scheme))
            )
            or (
                scheme.free is not None
                and scheme.free[1] in write.slots
                and scheme.free[0] in write.target.names
                and self._may_be(edge.rank, write.value, self._initial[scheme.free[1]])
                and not self._reads_free(edge, scheme.free)
            )
        ]


def _emptied(has: int) -> int:
    """What a rank has whose own cell is known not to hold the token."""
    return CLEAR if has >= HOLDING else WAITING
