"""Conditions that compare one register with a number, and branches by them alone."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import MIRRORED, NEGATED, Binary, Expr, Register, Unary, constant
from pgasrob.program.shown_places import Shown


class Comparison(NamedTuple):
    """How a register compares to which value."""

    relation: str
    value: int

    @property
    def negated(self) -> Comparison:
        return Comparison(NEGATED[self.relation], self.value)


class KnownCells(NamedTuple):
    """Which places are cells that are known from the text: on ``nodes`` nodes of so many ``cells``, and at none of the
    addresses ``updated`` (None: anywhere), which updates change that commute with their kind. ``shown``: where the
    source shows what no command does."""

    nodes: int
    cells: int
    updated: frozenset[int | None]
    shown: Shown | None = None

    def has(self, place: core.Place) -> bool:
        address, rank = constant(place.address), None if place.rank is None else constant(place.rank)
        if address is None or not 0 <= address < self.cells or not self.updated.isdisjoint((None, address)):
            return False
        return place.rank is None or (rank is not None and 0 <= rank < self.nodes)

    def shows(self, edge: Transition) -> bool:
        """Whether what the command of ``edge`` brings may be shown, by output or by what main returns."""
        return self.shown is not None and edge.span in self.shown.giving


@lru_cache(maxsize=4096)
def compared(condition: Expr, register: int) -> Comparison | None:
    """How ``condition`` compares ``register``, if it says nothing else."""
    match condition:
        case Register(_, index) if index == register:
            return Comparison("!=", 0)
        case Unary("!", negated):
            inner = compared(negated, register)
            return None if inner is None else inner.negated
        case Binary("&&" | "||", left, right):
            one, other = compared(left, register), compared(right, register)
            return one if one == other else None
        case Binary(symbol, Register(_, index), value) if symbol in NEGATED and index == register:
            known = constant(value)
            return None if known is None else Comparison(symbol, known)
        case Binary(symbol, value, Register(_, index)) if symbol in NEGATED and index == register:
            known = constant(value)
            return None if known is None else Comparison(MIRRORED[symbol], known)
    return None


def branches(automaton: ControlAutomaton, state: int, register: int) -> list[tuple[Comparison, Transition]] | None:
    """The two assumes by which a rank goes on at ``state``, with how they compare ``register``, whose value is not used
    behind them; None where it does anything else there."""
    found = []
    for edge in automaton.out[state]:
        form = edge.form
        comparison = compared(form.condition, register) if isinstance(form, core.Test) and form.blocks else None
        if comparison is None or register in automaton.live[edge.target]:
            return None
        found.append((comparison, edge))
    return found if len(found) == 2 and found[0][0].negated == found[1][0] else None
