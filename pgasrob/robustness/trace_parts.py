"""The search trace by trace, cut into parts that other processes can go through.

A part is a range of subtrees of the exploration. What was found in one is a :class:`FoundInPart`, without runs, which
are not for sending; :class:`PartsSearch` makes the answer of all of them, and goes again through those few that have
something to show. The answer is that of the first part, in their order, that has any, so it does not depend on which
process was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import (
    WHOLE,
    Facts,
    FoundInPart,
    InOnePart,
    JoinedFacts,
    Subtrees,
    TraceEngine,
)
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Progress, Watch
from pgasrob.twins import trace_search

LARGE = 5_000_000
"""Effort that a whole exploration may take, a few seconds; what takes more is worth handing out."""
MANY, MOST_LEVELS, MOST_ABOVE = 128, 24, 20_000
"""Parts to make, about; levels above them; events above them, for everybody goes through these."""


def parts_of(instance: Instance, memory: int | None) -> list[Subtrees]:
    """The parts of a large exploration, which depend on the instance alone; none for one that is not large."""
    whole = trace_search(instance, memory)
    for _ in whole.run():
        if whole.effort > LARGE:
            break
    else:
        return []
    levels = count = 0
    while count < MANY and levels < MOST_LEVELS:
        above = trace_search(instance, memory, Subtrees(levels + 1, WHOLE.end, WHOLE.end))
        for _ in above.run():
            if above.transitions > MOST_ABOVE:
                break
        else:
            levels, count = levels + 1, above.subtrees
            continue
        break
    size = -(-count // (2 * MANY)) or 1
    firsts = range(0, count, size)
    # The last one has whatever there is to the end.
    return [Subtrees(levels, first, end) for first, end in zip(firsts, [*firsts[1:], WHOLE.end], strict=True)]


def go_through(
    instance: Instance, part: Subtrees, limits: Limits, progress: Callable[[Progress], None] | None
) -> FoundInPart:
    """Search a part within ``limits``, which are for this part alone."""
    watch, complete = Watch(limits, progress, time.monotonic()), False
    search = trace_search(instance, limits.memory, part)
    facts = search.facts
    with until_limit(watch, memory=True) as stopped:
        for _ in search.run():
            if facts.fault:
                break
            watch.look_around("traces", search.states, search.doing)
        stopped.reason, complete = search.gave_up, facts.complete
    return FoundInPart(
        part,
        search.states,
        search.violation is not None,
        facts.fault is not None,
        frozenset(facts.failed),
        facts.deadlock is not None,
        complete,
        stopped.reason,
    )


class PartsSearch(JoinedFacts, InOnePart):
    """An engine that joins what other processes have ``found`` in the parts of the search, in their order.

    The attributes are those of :class:`TraceSearch`. Raises ValueError when parts are missing.
    """

    settled = False
    doing = "what was found in its parts"

    def __init__(self, instance: Instance, found: Sequence[FoundInPart], memory: int | None) -> None:
        self._instance, self._memory = instance, memory
        self._found = found = found[: next((place + 1 for place, each in enumerate(found) if each.decides), None)]
        ends = [0, *(each.subtrees.end for each in found)]
        whole = len({each.subtrees.levels for each in found}) == 1 and ends[:-1] == [
            each.subtrees.first for each in found
        ]
        if not whole or not (found[-1].decides or ends[-1] == WHOLE.end):
            raise ValueError("these are not all parts of an exploration")
        # The first part that shows something, for each of what there may be to show.
        first = [found[-1]] if found[-1].decides else []
        first += [each for each in found if each.deadlock][:1]
        for claim in {claim for each in found for claim in each.failed}:
            first.append(next(each for each in found if claim in each.failed))
        self._to_show = [each for each in found if each in first]
        self._searches: list[TraceEngine] = []
        self._ended = False
        self.checks_deadlock = instance.can_wait

    @property
    def facts(self) -> PartsSearch:
        return self

    @property
    def states(self) -> int:
        """The states of all parts; until the end those of the part that is gone through again, which has the limits."""
        return sum(each.states for each in self._found) if self._ended else self._searches[-1].states

    @property
    def transitions(self) -> int:
        return self.states

    @property
    def sources(self) -> list[Facts]:
        return [search.facts for search in self._searches]

    @property
    def complete(self) -> bool:
        return self._ended and all(each.complete for each in self._found)

    def explore(self, most: int | None = None) -> Iterator[None]:
        """The SC runs by themselves: nothing more is known of them."""
        return iter(())

    def run(self) -> Iterator[None]:
        """Go again through what has something to show, up to there, yielding after every piece."""
        for each in self._to_show:
            search = trace_search(self._instance, self._memory, each.subtrees)
            self._searches.append(search)
            for _ in search.run():
                if self._shown(search, each):
                    break
                yield
            self.violation = search.violation
        self._ended = True
        if self.violation is None:
            self.gave_up = next((each.reason for each in self._found if each.reason), None)

    @staticmethod
    def _shown(search: TraceEngine, found: FoundInPart) -> bool:
        facts = search.facts
        return (
            (search.violation is not None) >= found.violation
            and (facts.fault is not None) >= found.fault
            and facts.failed.keys() >= found.failed
            and (facts.deadlock is not None) >= found.deadlock
        )
