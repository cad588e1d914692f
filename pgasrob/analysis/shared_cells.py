"""The abstract memory of `cell_values`: which values have been written to each cell, and by whom.

What a process writes at the issue of a command is kept apart from what arrives in a step of one of its operations: it
knows when the former happens, of the latter only that it has happened when it has waited for it.
"""

from __future__ import annotations

from pgasrob.analysis.intervals import Interval
from pgasrob.analysis.range_analysis import Ranges
from pgasrob.analysis.regions import Location
from pgasrob.analysis.value_sets import MOST_VALUES, NONE, Values, between, hull, united, within
from pgasrob.program.expressions import INT32
from pgasrob.program.instance import Instance


def grown(old: Values, new: Values, bound: Interval) -> Values:
    """``old`` and ``new`` together, of which it is known that they lie within ``bound``: all that does, once it is no
    set any more, so that it grows finitely often."""
    if new == old:
        return old
    new = within(new, *bound)
    both = united(old, new)
    return both if both is old or not old or isinstance(both, frozenset) else between(*bound)


Writes = dict[int, dict[int, Values]]
"""What commands write, by their processes and control states."""


class SharedCell:
    """One cell, or a large array at one rank as if it were one.

    ``bound``: the interval of all its values that is known before. ``ever``: the values that it may ever hold.
    ``issued``: what commands write at their issue; ``sent``: what their steps write. ``readers``: the places whose
    commands read it. ``added``: what is added to it at places to which no process comes twice.
    """

    __slots__ = ("_others", "_plain", "added", "bound", "ever", "initial", "issued", "readers", "sent")

    def __init__(self, initial: Values, bound: Interval) -> None:
        self.bound = bound
        self.initial = self.ever = self._plain = initial
        self.added: dict[Location, Values] = {}
        self.issued: Writes = {}
        self.sent: Writes = {}
        self.readers: set[Location] = set()
        self._others: dict[int, Values] = {}

    def others(self, process: int) -> Values:
        """The values that other processes than ``process`` may write."""
        found = self._others.get(process)
        if found is None:
            found = NONE
            for writes in (self.issued, self.sent):
                for other, by_state in writes.items():
                    for values in by_state.values() if other != process else ():
                        found = grown(found, values, self.bound)
            self._others[process] = found
        return found

    def sent_by(self, process: int) -> Values:
        """The values that steps of commands of ``process`` may write."""
        found = NONE
        for values in self.sent.get(process, {}).values():
            found = grown(found, values, self.bound)
        return found

    def add(self, place: Location, values: Values) -> bool:
        """Note that a command at ``place`` adds one of ``values``, at most once; whether that is new."""
        before = self.added.get(place, NONE)
        self.added[place] = after = grown(before, values, INT32.range)
        return after is not before

    def sums(self, place: Location) -> Values | None:
        """What the cell may hold before what is added at ``place``: what has been written otherwise, with what is added
        elsewhere; None where that may be too large."""
        low, high = hull(self._plain)
        for values in (values for other, values in self.added.items() if other != place):
            least, greatest = hull(values)
            low, high = low + min(least, 0), high + max(greatest, 0)
        return between(low, high) if INT32.range[0] <= low and high <= INT32.range[1] else None

    def write(self, writes: Writes, place: Location, values: Values, is_sum: bool = False) -> bool:
        """Note that a command at ``place`` may write ``values``, in one of the two ways; whether that is new.
        ``is_sum``: by adding what :meth:`add` has noted."""
        state, process = place
        plain = self._plain
        if not is_sum:
            self._plain = grown(plain, values, self.bound)
        before = writes.setdefault(process, {}).get(state, NONE)
        after = grown(before, values, self.bound)
        if after is before:
            return self._plain is not plain
        writes[process][state] = after
        self.ever = grown(self.ever, after, self.bound)
        for other, known in self._others.items():
            if other != process:
                self._others[other] = grown(known, after, self.bound)
        return True


class SharedCells:
    """All cells that are accessed. ``size``: the cells of a node."""

    def __init__(self, instance: Instance, known: Ranges) -> None:
        self.size = instance.size
        self._known, self._memory = known, instance.memory
        self._first: list[int] = []  # for every address those that count as one with it
        self._last: list[int] = []
        for object in instance.program.memory:
            for address in range(object.address, object.address + object.cells):
                whole = object.cells > MOST_VALUES
                self._first.append(object.address if whole else address)
                self._last.append(object.address + object.cells - 1 if whole else address)
        self._cells: dict[int, SharedCell] = {}

    def number(self, rank: int, address: int) -> int:
        """The number of the cell that stands for that at ``address`` of ``rank``."""
        return rank * self.size + self._first[address]

    def is_one(self, number: int) -> bool:
        """Whether the cell of this number stands for itself alone."""
        address = number % self.size
        return self._first[address] == self._last[address]

    def __getitem__(self, number: int) -> SharedCell:
        found = self._cells.get(number)
        if found is None:
            rank, first = divmod(number, self.size)
            last = self._last[first]
            start = rank * self.size
            bound = self._known.cells(rank, first, last)
            initial = NONE
            for value in self._memory[start + first : start + last + 1]:
                initial = grown(initial, frozenset((value,)), bound)
            found = self._cells[number] = SharedCell(initial, bound)
        return found
