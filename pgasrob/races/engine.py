"""What searches for races have in common."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pgasrob.races.pairs import Next, Places
from pgasrob.robustness.engine import Search
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault


class FoundRace(NamedTuple):
    """Two accesses that are both next after ``run``; ``operations``: for each of them which of its rank's commands in
    the run it belongs to, None for a command that the rank stands before."""

    accesses: tuple[Next, Next]
    operations: tuple[int | None, int | None]
    run: Computation


class RaceSearch(Search, Protocol):
    """A search for races, which goes on after one.

    ``races``: by places, the first found first. When ``run`` ends these are all, unless ``gave_up`` says why not, or
    ``fault``, at which it ends, or ``needs_robust``: then they are if the instance is robust.
    """

    races: dict[Places, FoundRace]

    @property
    def fault(self) -> FoundFault | None: ...
    @property
    def needs_robust(self) -> bool: ...
