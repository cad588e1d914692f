"""The search for races by the native kernel.

Same states, same races as `races.search`, which is the reference. The kernel says which moves it took, and which
commands ranks stand before; what that is, is found out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pgasrob.program.instance import Instance
from pgasrob.races.engine import FoundRace
from pgasrob.races.pairs import Places, places
from pgasrob.races.rules import rules
from pgasrob.races.search import found_race, has_awaits
from pgasrob.robustness import native
from pgasrob.robustness.attack_search import PIECE
from pgasrob.robustness.native import LARGE, LARGE_PIECE, Retold
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.robustness.tables import tables
from pgasrob.semantics.sequential import FoundFault


def available() -> bool:
    """Whether a kernel has been built that knows of races."""
    if not native.available():
        return False
    import pgasrob._kernel

    return hasattr(pgasrob._kernel, "Races")


class NativeRaceSearch:
    """The races of an instance, with what :class:`~pgasrob.races.search.RaceSearch` has and does.

    ``all_``: it goes on after the first race. ``memory_limit`` bounds the bytes of what is stored; beyond it ``run``
    raises MemoryError. With several ``threads`` a large search takes less time and finds the same, state for state.
    """

    gave_up: Reason | None = None
    doing = ""

    def __init__(
        self,
        instance: Instance,
        strict: bool = False,
        reductions: Collection[str] = REDUCTIONS,
        memory_limit: int | None = None,
        threads: int = 1,
        all_: bool = True,
    ) -> None:
        from pgasrob._kernel import Races

        self._instance = instance
        self._tables = tables(instance, reductions)
        self._retold = Retold(instance, self._tables)
        self._search = Races(
            self._tables,
            rules(instance, strict),
            all=all_,
            reductions=[name for name in reductions if name != "infeasibility"],
            memory_limit=memory_limit,
            threads=threads,
        )
        self._keeps_races_alone = not strict and "persistent" in reductions and has_awaits(instance)
        self.races: dict[Places, FoundRace] = {}
        self._fault: FoundFault | None = None

    @property
    def fault(self) -> FoundFault | None:
        if self._fault is None and (told := self._search.fault) is not None:
            self._fault = self._retold.fault(*told)
        return self._fault

    @property
    def needs_robust(self) -> bool:
        return self._keeps_races_alone or self._search.harmless

    @property
    def states(self) -> int:
        return self._search.states

    @property
    def transitions(self) -> int:
        return self._search.transitions

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends at a fault, or at the first race unless all are wanted, or when all
        have been seen."""
        over = False
        while not over:
            over = self._search.run(PIECE if self._search.states < LARGE else LARGE_PIECE)
            for number in range(len(self.races), self._search.count):
                moves, before = self._search.race(number)
                words = self._retold.words(moves)
                standing = [(rank, self._tables.edges[transition].occurrence) for rank, transition in before]
                race = found_race(self._instance, words, standing)
                self.races[places(*race.accesses)] = race
            if not over:
                yield
