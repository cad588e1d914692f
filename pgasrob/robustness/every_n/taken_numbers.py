"""Cells in which each rank puts its number once, and takes out that of another one (`proofs/every-n.md`, section 2).

    p <- swap(0, tail, me)

Each number is in the tail of a queue once, and is overwritten once. So no two ranks have taken the same one, and what
two ranks access in the memory of those whose numbers they have taken is different.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Place
from pgasrob.program.expressions import INT32, Binary, Const, Register
from pgasrob.program.graphs import reached_by
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.linear import Linear, exactly, number
from pgasrob.robustness.every_n.symbolic_values import constant

Edge = tuple[int, int]
"""The state that a transition leaves, and its place there."""
BEGINNING: Edge = (-1, -1)


class TakenNumbers:
    """Which ranks that operands name have been taken out of such a cell."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._before: dict[int, list[list[Edge]]] = {}
        found = self._found()
        self.slot: int | None = None if found is None else found[0]
        self._more = 0 if found is None else found[1]

    def is_taken(self, rank: int, state: int, place: Place) -> bool:
        """Whether ``place`` is in the memory of the rank whose number has been taken."""
        named, file = named_by(place), self._known.files[rank][state]
        if self.slot is None or named is None or file is None or named[1] != self._more:
            return False
        if not self.fits(rank, state, named):
            return False
        edges = [*self.set_at(rank, state, named[0])]
        return all(edge != BEGINNING and self._takes(rank, edge, self.slot) for edge in edges)

    def fits(self, rank: int, state: int, named: tuple[int, int]) -> bool:
        """Whether an operand that is a register and a number more or less does not wrap around."""
        file = self._known.files[rank][state]
        low, high = (0, 0) if file is None else self._known.values[rank].domain.span(file[named[0]])
        return INT32.range[0] + abs(named[1]) < low and high < INT32.range[1] - abs(named[1])

    def set_at(self, rank: int, state: int, register: int) -> Iterator[Edge]:
        """The edges that may have set a register last when a rank is at ``state``, its beginning among them."""
        out = self._known.ranks[rank].automaton.out
        if rank not in self._before:
            self._before[rank] = [[] for _ in out]
            for edge, transition in self._edges(rank):
                self._before[rank][transition.target].append(edge)
        seen, left = {state}, [state]
        while left:
            at = left.pop()
            if at == 0:
                yield BEGINNING
            for before, place in self._before[rank][at]:
                if core.register_set(out[before][place].form) == register:
                    yield before, place
                elif before not in seen:
                    seen.add(before)
                    left.append(before)

    def _edges(self, rank: int) -> Iterator[tuple[Edge, Transition]]:
        for state, leaving in enumerate(self._known.ranks[rank].automaton.out):
            for place, transition in enumerate(leaving):
                if self._known.files[rank][state] is not None and self._known.possible(rank, state, transition):
                    yield (state, place), transition

    def _found(self) -> tuple[int, int] | None:
        """The slot of the first such cell, and how much more than its number each rank puts there."""
        found: dict[int, set[tuple[Linear, int]]] = {}
        others: set[int] = set()
        for rank in range(len(self._known.ranks)):
            for (state, _), transition in self._edges(rank):
                for access in core.accesses_of(transition.form):
                    slots = self._known.slots(rank, state, access.cell.address)
                    put = self._puts(rank, state, transition.form) if len(slots) == 1 else None
                    if put is None:
                        others.update(slots)
                    else:
                        found.setdefault(slots[0], set()).add(put)
        for slot in sorted(found.keys() - others):
            ((_, more), *further) = found[slot]
            held = {constant(value) for value in self._initial_and_new(slot)}
            numbers = all(value is not None and value < more for value in held)
            if not further and slot < self._known.layout.cells and numbers and self._once(slot):
                return slot, more
        return None

    def _puts(self, rank: int, state: int, form: core.Form) -> tuple[Linear, int] | None:
        """Of a command that puts the rank's number in a cell, or takes it out again if it is there still: the rank with
        the cell, and how much more than the number is put there."""
        match form:
            case core.Immediate(access, None, core.Update("set", own), until=None) if own is not None:
                pass
            case core.Immediate(access, None, core.Update("compare_swap", _, own), until=None) if own is not None:
                pass
            case _:
                return None
        at = None if access.cell.rank is None else self._known.operand(rank, state, access.cell.rank)
        value, me = self._known.operand(rank, state, own), self._known.ranks[rank].name.me
        if at is None or value is None or at[0] != at[1] or at[0].x or value[0] != value[1]:
            return None
        more = value[0].minus(me)
        return (at[0], int(more.c)) if more == number(int(more.c)) else None

    def _initial_and_new(self, slot: int) -> Iterator[tuple[Linear, Linear]]:
        """What is in a cell beside numbers of ranks."""
        yield exactly(number(self._known.initial[slot]))
        for rank in range(len(self._known.ranks)):
            for (state, _), transition in self._edges(rank):
                match transition.form:
                    case core.Immediate(access, update=core.Update("compare_swap", new)) if new is not None:
                        if slot in self._known.slots(rank, state, access.cell.address):
                            yield self._known.operand(rank, state, new) or exactly(number(0))

    def _takes(self, rank: int, edge: Edge, slot: int) -> bool:
        """Whether a command puts the rank's number in the cell, and takes out what is there."""
        form = self._known.ranks[rank].automaton.out[edge[0]][edge[1]].form
        match form:
            case core.Immediate(access, update=core.Update("set"), register=int()):
                return [*self._known.slots(rank, edge[0], access.cell.address)] == [slot]
        return False

    def _once(self, slot: int) -> bool:
        """Whether no rank puts its number there twice."""
        for rank in range(len(self._known.ranks)):
            edges = [*self._edges(rank)]
            puts = [(edge, transition) for edge, transition in edges if self._takes_or_sets(rank, edge, slot)]
            behind = reached_by(
                ((state, transition.target) for (state, _), transition in edges), {each.target for _, each in puts}
            )
            if any(edge[0] in behind for edge, _ in puts):
                return False
        return True

    def _takes_or_sets(self, rank: int, edge: Edge, slot: int) -> bool:
        form = self._known.ranks[rank].automaton.out[edge[0]][edge[1]].form
        match form:
            case core.Immediate(access, update=core.Update("set")):
                return slot in self._known.slots(rank, edge[0], access.cell.address)
        return False


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
