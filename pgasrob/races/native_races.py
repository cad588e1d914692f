"""The searches for races by the native kernel.

Same states, same races as `reference.race_search`, and same traces, same races as `reference.race_traces`. The kernel
says which moves it took, and which commands are the next ones of ranks; what these are is found out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

from pgasrob.program.instance import Instance
from pgasrob.races.access_facts import Fact, atomic_together, made_up, overlap
from pgasrob.races.found import FoundRace, found_race, has_awaits
from pgasrob.races.racing_pairs import Kinds, Pairs, Places, places
from pgasrob.robustness.access_tables import READ, UPDATED, WRITTEN
from pgasrob.robustness.engine import TraceByTrace
from pgasrob.robustness.kernel_tables import Tables, tables
from pgasrob.robustness.native_attack import Decoder, piece
from pgasrob.robustness.native_traces import MOST_EVENTS
from pgasrob.robustness.native_traces import PIECE as EFFORT
from pgasrob.robustness.reasons import Reason, RunTooLong, TooManyUpdates
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.sequential import FoundFault

if TYPE_CHECKING:
    from pgasrob._kernel import Races, TraceRaces


WAITS, ATOMIC, AT_ISSUE = 1, 2, 4
"""The flags of a kind: it is about the value that comes, it is atomic, it is made at the issue."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for races as flat tables of integers (`kernel/src/races/rules.rs`), beside those of the program.

    - ``starts``, ``accesses``: for every transition the piece with the kinds of its accesses, in their order.
    - ``kinds``: rows (place in the source, fact, flags, ways), the ways as in the tables.
    - ``facts``: how many facts there are, and ``excluded``: a square with 1 for two of which no accesses race.
    - ``made_up``: the addresses of cells that never race. ``strict`` as of :class:`~pgasrob.races.racing_pairs.Pairs`.
    """

    starts: list[int]
    accesses: list[int]
    kinds: list[int]
    facts: int
    excluded: list[int]
    made_up: list[int]
    strict: bool


def rules(instance: Instance, strict: bool) -> Rules:
    """The rules for races of ``instance``."""
    kinds = Kinds(Pairs(instance, strict), instance)
    facts: dict[Fact, int] = {}
    where: dict[object, int] = {}
    rows: list[int] = []
    for kind in kinds.all:
        if kind.commutes:
            ways = UPDATED << instance.update_kinds.index(kind.commutes)
        else:
            ways = READ * kind.reads + WRITTEN * kind.writes
        flags = WAITS * kind.fact.waits + ATOMIC * bool(kind.fact.atomic) + AT_ISSUE * kind.at_issue
        place, fact = where.setdefault(kind.span, len(where)), facts.setdefault(kind.fact, len(facts))
        rows += [place, fact, flags, ways]
    excluded = [int(atomic_together(one, other, strict) or not overlap(one, other)) for one in facts for other in facts]
    return Rules(
        [0, *accumulate(map(len, kinds.accesses))],
        [kind for of_transition in kinds.accesses for kind in of_transition],
        rows,
        len(facts),
        excluded,
        sorted(made_up(instance.program)),
        strict,
    )


Search = TypeVar("Search", bound="Races | TraceRaces")


class _NativeRaces(Generic[Search]):
    """A search of the kernel for the races of ``instance``, which it knows as ``tables``; what it has found,
    decoded."""

    gave_up: Reason | None = None

    def __init__(self, instance: Instance, tables: Tables, search: Search) -> None:
        self._instance, self._tables = instance, tables
        self._search: Search = search
        self._decoder = Decoder(instance, tables)
        self.races: dict[Places, FoundRace] = {}
        self._fault: FoundFault | None = None

    @property
    def fault(self) -> FoundFault | None:
        if self._fault is None and (found := self._search.fault) is not None:
            self._fault = self._decoder.fault(*found)
        return self._fault

    def _piece(self) -> int:
        """How much is looked at in the next piece."""
        raise NotImplementedError

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends at a fault, or at the first race unless all are wanted, or when all
        have been seen."""
        over = False
        while not over:
            over = self._search.run(self._piece())
            for number in range(len(self.races), self._search.count):
                moves, before = self._search.race(number)
                words = self._decoder.words(moves)
                commands = [(rank, self._tables.edges[transition].occurrence) for rank, transition in before]
                race = found_race(self._instance, words, commands)
                self.races[places(*race.accesses)] = race
            if not over:
                yield


class NativeRaceSearch(_NativeRaces["Races"]):
    """The races of an instance, with what :class:`~pgasrob.reference.race_search.RaceSearch` has and does.

    ``all_``: it goes on after the first race. ``memory_limit`` bounds the bytes of what is stored; beyond it ``run``
    raises MemoryError. With several ``threads`` a large search takes less time and finds the same, state for state.
    """

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

        compiled = tables(instance, reductions)
        search = Races(
            compiled,
            rules(instance, strict),
            all=all_,
            reductions=[name for name in reductions if name != "infeasibility"],
            memory_limit=memory_limit,
            threads=threads,
        )
        super().__init__(instance, compiled, search)
        self._keeps_races_alone = not strict and "persistent" in reductions and has_awaits(instance)

    @property
    def needs_robust(self) -> bool:
        return self._keeps_races_alone or self._search.harmless

    @property
    def states(self) -> int:
        return self._search.states

    @property
    def transitions(self) -> int:
        return self._search.transitions

    def _piece(self) -> int:
        return piece(self._search.states, self._instance.processes)


class NativeTracesRaceSearch(_NativeRaces["TraceRaces"], TraceByTrace["TraceRaces"]):
    """The races of an instance, trace by trace.

    ``all_`` and ``memory_limit`` are as in :class:`NativeRaceSearch`; ``longest``: the events of a run beyond which it
    is taken to have no end if its ranks come back to where they have been.
    """

    def __init__(
        self,
        instance: Instance,
        strict: bool = False,
        memory_limit: int | None = None,
        all_: bool = True,
        longest: int = MOST_EVENTS,
    ) -> None:
        from pgasrob._kernel import TraceRaces

        compiled = tables(instance, (), stores_states=False)
        ruled = rules(instance, strict)
        search = TraceRaces(compiled, ruled, longest=longest, all=all_, memory_limit=memory_limit)
        _NativeRaces.__init__(self, instance, compiled, search)
        TraceByTrace.__init__(self, search)
        self._longest = longest

    @property
    def needs_robust(self) -> bool:
        return self._search.harmless

    @property
    def effort(self) -> int:
        """The events that have been looked at, on the way and in whole traces, and the commands compared there."""
        return self._search.effort

    def _piece(self) -> int:
        return EFFORT

    def run(self) -> Iterator[None]:
        """Search; the kernel may give up, or take a run to have no end."""
        yield from super().run()
        if self._search.gave_up:
            self.gave_up = TooManyUpdates()
        elif self._search.too_long:
            self.gave_up = RunTooLong(self._longest)
