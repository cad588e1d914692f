"""What all processes know together of a cell when they pass a barrier.

When a barrier is passed each process stands before one, and all have passed the same number of them. So what a cell
holds then is allowed by the view of each: of a cell that one process has written, and waited for, the others learn that
the value from before is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce

from pgasrob.analysis.regions import Location
from pgasrob.analysis.value_sets import NONE, Values, common, united
from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

MOST_COUNTED = 16
"""How far barriers are counted; all numbers from there on are one."""


class Arrivals:
    """The views with which ranks of one thread come to barriers; ``followed``: the cells of which each has a view."""

    def __init__(self, instance: Instance, followed: Sequence[Collection[int]]) -> None:
        self._passed = [_passed(automaton) for automaton in instance.automata]
        self._sharing: dict[int, list[int]] = {}
        for process, numbers in enumerate(followed):
            for number in numbers:
                self._sharing.setdefault(number, []).append(process)
        self._here: dict[int, set[int]] = {}
        self._values: dict[tuple[int, int, int], Values] = {}
        self._waiting: dict[int, set[Location]] = {}

    def arrive(self, place: Location, views: dict[int, Values]) -> Iterator[Location]:
        """Note that a process comes to a barrier at ``place`` with these values of the cells that it follows; the
        places for which that may be news."""
        process = place[1]
        for count in self._counts(place):
            self._waiting.setdefault(count, set()).add(place)
            here = self._here.setdefault(count, set())
            changed = process not in here
            here.add(process)
            for number, values in views.items():
                key = count, process, number
                before = self._values.get(key, NONE)
                self._values[key] = after = united(before, values)
                changed = changed or (after is not before and len(self._sharing[number]) > 1)
            if changed:
                yield from self._waiting[count]

    def shared(self, process: int, number: int) -> bool:
        """Whether others than ``process`` follow the cell."""
        return self._sharing[number] != [process]

    def allowed(self, place: Location, number: int) -> Values | None:
        """The values of the cell when the barrier at ``place`` is passed, by the views of the others; None: any."""
        process = place[1]
        if not self.shared(process, number):
            return None
        found = NONE
        for count in self._counts(place):
            if len(self._here[count]) == len(self._passed):
                others = (self._values[count, each, number] for each in self._sharing[number] if each != process)
                found = united(found, reduce(common, others))
        return found

    def is_passed(self, place: Location) -> bool:
        """Whether all processes may come to the barrier."""
        counts = self._counts(place)
        return any(len(self._here.get(count, ())) == len(self._passed) for count in counts)

    def _counts(self, place: Location) -> list[int]:
        """How many barriers may have been passed before."""
        state, process = place
        bits = self._passed[process][state]
        return [count for count in range(MOST_COUNTED + 1) if bits >> count & 1]


def _passed(automaton: ControlAutomaton) -> list[int]:
    """For each control state how many barriers may have been passed before, as bits."""
    found = [0] * len(automaton.out)
    found[0] = 1
    changed = [0]
    most = 1 << MOST_COUNTED
    while changed:
        stop_point()
        state = changed.pop()
        for transition in automaton.out[state]:
            bits = found[state]
            if isinstance(transition.form, core.Barrier):
                bits = (bits << 1) & (2 * most - 1) | bits & most
            if bits & ~found[transition.target]:
                found[transition.target] |= bits
                changed.append(transition.target)
    return found
