"""The `attack` engine in Python: the search through the space of `reference.attack`, with reductions or without.

It is the reference for the kernel, which does the same (`robustness.native_attack`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from pgasrob.automata.emptiness import EmptinessSearch
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import AttackSpace
from pgasrob.reference.reduced_search import ReducedSearch
from pgasrob.robustness.engine import PIECE, InOnePart, Violation, WithoutFacts
from pgasrob.robustness.moves import in_two_parts
from pgasrob.robustness.normal_form import Word


class StateSearch(Protocol):
    """A breadth-first search for the state after e, as :class:`~pgasrob.automata.emptiness.EmptinessSearch` is one."""

    path: list[Word] | None

    @property
    def states(self) -> int: ...

    @property
    def transitions(self) -> int: ...

    def advance(self, states: int) -> bool: ...


class AttackSearch(WithoutFacts, InOnePart):
    """The attack search of an instance, breadth-first by commands, with some of the reductions.

    Attributes: ``violation`` once found; ``states``, ``transitions``; ``settled``: no step can be the source, so that
    there is no violation, though ``run`` goes through the SC runs. When ``run`` ends without a violation, the instance
    is robust. ``reductions`` are names of :data:`pgasrob.robustness.reduction.REDUCTIONS`; none: the plain
    search.
    """

    def __init__(self, instance: Instance, reductions: Collection[str] = ()) -> None:
        self._search: StateSearch
        self.settled = False
        if reductions:
            self._search = reduced = ReducedSearch(instance, reductions)
            self.settled = not reduced.has_source
        else:
            self._search = EmptinessSearch(AttackSpace(instance))

    @property
    def states(self) -> int:
        return self._search.states

    @property
    def transitions(self) -> int:
        return self._search.transitions

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none."""
        while not self._search.advance(PIECE):
            yield
        if self._search.path is not None:
            self.violation = Violation(*in_two_parts(self._search.path))
