"""A token for the number of each rank, which goes to who may wake that rank (`proofs/every-n.md`, section 4).

    write(mine, p, next, q); await(mem[locked] == 0); ... n <- mem[next]; write(zero, n, locked, q)

A rank gives its number to another one, here by `next`, and waits. That one reads it, and wakes the rank by it: the
number is given back. So each number is with one rank at a time, round after round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.core import Place
from pgasrob.program.expressions import INT32, Binary, Const, Register
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.linear import NODES, Value, exactly, number
from pgasrob.robustness.every_n.rank_cases import Case
from pgasrob.robustness.every_n.token_edges import (
    CLEAR,
    HOLDING,
    NOTHING,
    Cell,
    Edge,
    Edges,
    Write,
    after_put,
    at_least,
    is_own,
)
from pgasrob.robustness.reduction.pairwise import Token

IN_CELL, IN_REGISTER = 1, 2
"""Where the number of another rank counts at a state, as bits: in the rank's own cell, in its register."""


class _Scheme(NamedTuple):
    """A rank gives its number and ``more`` into slot ``given`` of the rank named ``at``, or of any rank that reads it
    in its own memory (None). Who reads it from there has it in ``register``, and wakes it by its ``passed`` cell."""

    given: int
    at: int | None
    more: int
    register: int
    passed: Cell


class _Has(NamedTuple):
    """What a rank has of its own number at a state, and where numbers of others count there."""

    own: int
    others: int

    def and_also(self, other: _Has) -> _Has:
        return _Has(at_least(self.own, other.own), self.others & other.others)


def number_tokens(edges: Edges, initial: Sequence[int], case: Case) -> list[Token]:
    """The tokens of a case, for the number of its first rank; cells hold ``initial`` in the beginning."""
    search = _Search(edges, initial, case)
    found = (search.token(scheme) for scheme in search.schemes())
    return [each for each in found if each is not None]


class _Search:
    def __init__(self, edges: Edges, initial: Sequence[int], case: Case) -> None:
        self._edges, self._case = edges, case
        self._initial = [exactly(number(value)) for value in initial]

    def schemes(self) -> Iterator[_Scheme]:
        """What may be such tokens."""
        given, waking = dict[tuple[int, int | None, int], None](), dict[tuple[int, int, int], None]()
        for edge in self._edges.all:
            for write in edge.writes:
                if not self._edges.is_cell(write.slots):
                    continue
                form = write.value[0].minus(self._case.names[edge.rank].me)
                if not write.target.own and form == number(int(form.c)) and write.value[0] == write.value[1]:
                    places = (None, *write.target.names) if write.target.single else (None,)
                    given |= {(write.slots[0], at, int(form.c)): None for at in places}
                if (named := named_by(write.place)) is not None:
                    waking[write.slots[0], *named] = None
        for slot, at, more in given:
            if at is not None and self._is_number(at, self._initial[slot], more):
                continue
            for woken, register, by in waking:
                cells = [each for each in self._edges.cells() if each.slot == woken != slot and by == more]
                yield from (_Scheme(slot, at, more, register, cell) for cell in cells)

    def token(self, scheme: _Scheme) -> Token | None:
        """The token of ``scheme``, if no number ever is in two places."""
        has = [self._followed(rank, scheme) for rank in range(len(self._edges.of))]
        putting, needing = set[tuple[int, int]](), set[int]()
        waking, elsewhere = set[tuple[int, int]](), set[tuple[int, int]]()
        for edge in self._edges.all:
            before = has[edge.rank][edge.state]
            if before is None:
                continue
            gives, wakes = self._gives(edge, scheme), self._edges.puts(edge, scheme.passed)
            if not self._is_right(edge, scheme, before, gives, wakes):
                return None
            takes = before.own < HOLDING <= self._after(edge, scheme, before).own
            waking |= {(id(edge.command), write.access) for write in wakes}
            if edge.rank == 0:
                putting |= {(id(edge.command), write.access) for write in gives}
                needing |= {id(edge.command)} if takes else set()
            if edge.immediate and (takes or before.own >= HOLDING) and self._accesses_own(edge, scheme):
                elsewhere.add((id(edge.command), 0))
        holding = sum(1 << state for state, each in enumerate(has[0]) if each is not None and each.own >= HOLDING)
        return Token(
            (holding, *[0] * (len(has) - 1)),
            frozenset(putting),
            frozenset(needing),
            frozenset(waking),
            frozenset(elsewhere | waking),
        )

    def _is_right(
        self, edge: Edge, scheme: _Scheme, before: _Has, gives: Sequence[Write], wakes: Sequence[Write]
    ) -> bool:
        """Whether a rank gives only its own number, which it has, and wakes only a rank whose number it has."""
        own = exactly(self._case.names[edge.rank].me.shifted(scheme.more))
        named = scheme.register, scheme.more
        return (
            len(gives) <= 1
            and len(wakes) <= 1
            and all(write.value == own and before.own >= HOLDING for write in gives)
            and all(
                named_by(write.place) == named
                and fits(self._edges.unfolded, edge.rank, edge.state, named)
                and before.others & IN_REGISTER
                for write in wakes
            )
        )

    def _accesses_own(self, edge: Edge, scheme: _Scheme) -> bool:
        """Whether all that a command accesses is the cell by which its rank is woken."""
        accessed = [each[:2] for each in (edge.read,) if each] or [(each.target, each.slots) for each in edge.writes]
        return bool(accessed) and all(is_own(*each, scheme.passed.slot) for each in accessed)

    def _followed(self, rank: int, scheme: _Scheme) -> list[_Has | None]:
        """What a rank has at each of its states at least; None where it does not come."""
        slot, full = scheme.passed
        own = HOLDING if self._edges.may_be(rank, self._initial[slot], full) else CLEAR
        numbered = scheme.at is not None or self._is_number(rank, self._initial[scheme.given], scheme.more)
        first = _Has(own, 0 if numbered else IN_CELL)
        return self._edges.followed(rank, first, lambda edge, before: self._after(edge, scheme, before), _Has.and_also)

    def _is_number(self, rank: int, value: Value, more: int) -> bool:
        """Whether a value may be the number of some rank, and so much more."""
        return self._edges.may_be(rank, value, (number(more), NODES.shifted(more - 1)))

    def _gives(self, edge: Edge, scheme: _Scheme) -> list[Write]:
        """The accesses of a command that may write a number where numbers are given."""
        return [
            write
            for write in edge.writes
            if scheme.given in write.slots
            and (scheme.at is None or scheme.at in write.target.names)
            and self._is_number(edge.rank, write.value, scheme.more)
        ]

    def _after(self, edge: Edge, scheme: _Scheme, before: _Has) -> _Has:
        """What a rank has once it has issued a command, if it had ``before`` at least."""
        own, others = before
        if self._takes_back(edge, scheme):
            return _Has(HOLDING if own == NOTHING else CLEAR, others & ~IN_REGISTER)
        if self._gives(edge, scheme):
            own = after_put(own)
        if self._edges.puts(edge, scheme.passed):
            others &= ~IN_REGISTER
        if core.register_set(edge.form) == scheme.register:
            others = self._after_set(edge, scheme, others)
        if scheme.at is None and self._is_cleared(edge, scheme):
            others |= IN_CELL
        return _Has(self._edges.after_own(edge, scheme.passed, own), others)

    def _reads_given(self, edge: Edge, scheme: _Scheme) -> bool:
        """Whether a command reads, at its issue, where numbers are given."""
        if edge.read is None:
            return False
        target, slots, _ = edge.read
        if scheme.at is None:
            return is_own(target, slots, scheme.given)
        return target.single and (*target.names, *slots) == (scheme.at, scheme.given)

    def _takes_back(self, edge: Edge, scheme: _Scheme) -> bool:
        """Whether a rank takes its own number out of the one cell where it has given it."""
        own = exactly(self._case.names[edge.rank].me.shifted(scheme.more))
        return (
            scheme.at is not None
            and edge.sure
            and self._reads_given(edge, scheme)
            and edge.read is not None
            and edge.read[2] == own
            and not self._gives(edge, scheme)
        )

    def _is_cleared(self, edge: Edge, scheme: _Scheme) -> bool:
        """Whether no number is in the rank's own cell once it has read or stored to it."""
        if self._reads_given(edge, scheme) and edge.read is not None and not edge.writes:
            return not self._is_number(edge.rank, edge.read[2], scheme.more)
        return edge.sure and any(
            is_own(write.target, write.slots, scheme.given) and not self._is_number(edge.rank, write.value, scheme.more)
            for write in edge.writes
        )

    def _after_set(self, edge: Edge, scheme: _Scheme, others: int) -> int:
        """Where numbers count once the register has been set."""
        value = edge.read[2] if edge.read is not None else None
        if isinstance(edge.form, core.Assign):
            value = self._edges.unfolded.operand(edge.rank, edge.state, edge.form.value)
        if value is not None and not self._is_number(edge.rank, value, scheme.more):
            return others | IN_REGISTER
        if self._reads_given(edge, scheme) and (edge.sure if scheme.at is not None else others & IN_CELL):
            return IN_REGISTER
        return others & ~IN_REGISTER


def named_by(place: Place) -> tuple[int, int] | None:
    """A register, and what it is more than the rank that ``place`` names by it."""
    match place.rank:
        case Register(_, index):
            return index, 0
        case Binary("-", Register(_, index), Const(more), type) if type == INT32:
            return index, more
        case Binary("+", Register(_, index), Const(less), type) if type == INT32:
            return index, -less
    return None


def fits(known: Known, rank: int, state: int, named: tuple[int, int]) -> bool:
    """Whether an operand that is a register and a number more or less does not wrap around."""
    file = known.files[rank][state]
    low, high = (0, 0) if file is None else known.values[rank].domain.span(file[named[0]])
    return INT32.range[0] + abs(named[1]) < low and high < INT32.range[1] - abs(named[1])
