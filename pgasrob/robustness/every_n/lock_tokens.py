"""Tokens: what at most one rank has, and hands on by a cell (`proofs/every-n.md`, section 4).

    p <- swap(0, tail, me); if (p != -1) { ...; await(mem[locked] == 0); }

A token lies in a cell of one rank while that holds some value, here `tail` and -1, or a rank has it at some of its
states, or it lies in a cell of a rank that waits for it, here `locked` and 0. Looking at each command by itself shows
that there never is more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.robustness.every_n.linear import exactly, number
from pgasrob.robustness.every_n.token_edges import (
    CLEAR,
    HOLDING,
    NOTHING,
    WAITING,
    Cell,
    Edge,
    Edges,
    after_put,
    at_least,
)
from pgasrob.robustness.reduction.pairwise import Token


class _Scheme(NamedTuple):
    """Where a token may be. It lies in slot ``free[1]`` of the rank with the name ``free[0]`` while this holds what it
    did in the beginning, or the rank named ``first`` begins with it; and in the ``passed`` cell of a rank that
    waits."""

    free: tuple[int, int] | None
    first: int | None
    passed: Cell


def lock_tokens(edges: Edges, initial: Sequence[int]) -> list[Token]:
    """The tokens of a case; cells hold ``initial`` in the beginning."""
    search = _Search(edges, initial)
    found = {token.holding: token for scheme in search.schemes() if (token := search.token(scheme)) is not None}
    return list(found.values())


class _Search:
    def __init__(self, edges: Edges, initial: Sequence[int]) -> None:
        self._edges = edges
        self._initial = [exactly(number(value)) for value in initial]

    # Where tokens may be

    def schemes(self) -> Iterator[_Scheme]:
        """What may be a token."""
        edges = self._edges
        free = {
            (target.names[0], slots[0]): None
            for target, slots, _ in (edge.read for edge in edges.all if edge.read)
            if target.single and edges.is_cell(slots)
            if any(self._takes_free(edge, (target.names[0], slots[0])) for edge in edges.all)
        }
        first = [rank for rank in range(len(edges.of)) if rank not in edges.many]
        for cell in (*edges.cells(), Cell(-1, exactly(number(0)))):
            yield from (_Scheme(each, None, cell) for each in free if each[1] != cell.slot)
            yield from (_Scheme(None, rank, cell) for rank in first if cell.slot >= 0)

    def _takes_free(self, edge: Edge, free: tuple[int, int]) -> bool:
        """Whether a command takes the token out of the cell where it lies in the beginning."""
        if not edge.sure or not self._reads_free(edge, free):
            return False
        return not self._edges.may_be(edge.rank, edge.writes[0].value, self._initial[free[1]])

    def _reads_free(self, edge: Edge, free: tuple[int, int]) -> bool:
        """Whether a command reads that the token lies in this cell."""
        if edge.read is None:
            return False
        target, slots, value = edge.read
        return target.single and (*target.names, *slots) == free and value == self._initial[free[1]]

    # Who has it

    def token(self, scheme: _Scheme) -> Token | None:
        """The token of ``scheme``, if there never is more than one, and several ranks may have it."""
        has = [self._followed(rank, scheme) for rank in range(len(self._edges.of))]
        holding = tuple(
            sum(1 << state for state, each in enumerate(of) if each is not None and each >= HOLDING) for of in has
        )
        several = [rank for rank, states in enumerate(holding) if states]
        if len(several) < 2 and not self._edges.many.intersection(several):
            return None
        putting, needing = set[tuple[int, int]](), set[int]()
        for edge in self._edges.all:
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
        slot, full = scheme.passed
        lies = slot >= 0 and self._edges.may_be(rank, self._initial[slot], full)
        first = (HOLDING if lies else CLEAR) if scheme.first == rank else NOTHING if lies else WAITING
        return self._edges.followed(rank, first, lambda edge, before: self._after(edge, scheme, before), at_least)

    def _after(self, edge: Edge, scheme: _Scheme, before: int) -> int:
        """What a rank has once it has issued a command, if it had ``before`` at least."""
        if scheme.free is not None and self._takes_free(edge, scheme.free):
            return HOLDING if before == NOTHING else CLEAR
        if self._puts(edge, scheme):
            return after_put(before)
        return self._edges.after_own(edge, scheme.passed, before)

    def _puts(self, edge: Edge, scheme: _Scheme) -> set[int]:
        """The accesses of a command that may put the token somewhere, but for what a rank puts into its own cell."""
        found = {write.access for write in self._edges.puts(edge, scheme.passed)}
        if scheme.free is not None and not self._reads_free(edge, scheme.free):
            rank, slot = scheme.free
            found |= {
                write.access
                for write in edge.writes
                if slot in write.slots
                and rank in write.target.names
                and self._edges.may_be(edge.rank, write.value, self._initial[slot])
            }
        return found
