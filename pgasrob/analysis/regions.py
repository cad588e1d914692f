"""The abstract memory of the interval analysis: an interval for each region, a set of cells accessed together."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.analysis.counters import Limits
from pgasrob.analysis.intervals import Interval, joined
from pgasrob.analysis.widening import Widening
from pgasrob.program.instance import Instance

Location = tuple[int, int]
"""A control state and a rank."""


class Region:
    """Cells that are accessed together: some addresses at one rank or at all.

    ``values``: the interval of all values of its cells. ``written``: that of the values written to this region itself.
    ``readers``: the places whose commands read it. ``meeting``: the regions that share a cell with it, itself included.
    ``most``: the limit of a counter.
    """

    __slots__ = ("grown", "meeting", "most", "readers", "values", "written")

    def __init__(self, values: Interval, most: int | None) -> None:
        self.values = values
        self.most = most
        self.written: Interval | None = None
        self.grown = 0
        self.readers: set[Location] = set()
        self.meeting: list[Region] = [self]


class Regions:
    """All regions of an instance, made when they are first accessed.

    A single cell is a region. Wider ones are rounded up to whole arrays, and to all ranks, so that they are few: a
    write to an unknown element may be to any element anyway.
    """

    def __init__(self, instance: Instance, initial: Sequence[Interval], widening: Widening, limits: Limits) -> None:
        self._limits = limits
        self.stale: set[Location] = set()  # places that read what has changed
        self.size = instance.size
        self._nodes = instance.nodes
        self._initial = initial
        self._widening = widening
        self._first: list[int] = []  # for every address the first and the last of its array
        self._last: list[int] = []
        for object in instance.program.memory:
            self._first += [object.address] * object.cells
            self._last += [object.address + object.cells - 1] * object.cells
        self._regions: dict[tuple[int, int, int], Region] = {}  # by rank, -1 for all; first and last address
        self._of_rank: dict[int, list[tuple[int, int, Region]]] = {}

    def region(self, ranks: Interval, addresses: Interval) -> Region:
        """The region that stands for cells at ``ranks`` with ``addresses``."""
        first, last = addresses
        if first != last:
            first, last = self._first[first], self._last[last]
        rank = ranks[0] if ranks[0] == ranks[1] else -1
        found = self._regions.get((rank, first, last))
        return self._new(rank, first, last) if found is None else found

    def _new(self, rank: int, first: int, last: int) -> Region:
        values = self._initial[first]
        for initial in self._initial[first + 1 : last + 1]:
            values = joined(values, initial)
        limit = self._limits.get(first) if first == last else None
        region = Region(values, None if limit is None else limit.most)
        near = self._of_rank if rank == -1 else {here: self._of_rank.get(here, []) for here in (rank, -1)}
        for others in near.values():
            for start, end, other in others:
                if start <= last and first <= end:
                    region.meeting.append(other)
                    other.meeting.append(region)
                    if other.written is not None:
                        region.values = joined(region.values, other.written)
        self._regions[rank, first, last] = region
        self._of_rank.setdefault(rank, []).append((first, last, region))
        return region

    def write(self, region: Region, values: Interval) -> None:
        """Note that one of ``values`` may be written to a cell of ``region``."""
        known = region.written
        if known is not None:
            if known[0] <= values[0] and values[1] <= known[1]:
                return
            values = self._widening.grown(known, joined(known, values), region.grown)
        if region.most is not None:
            values = min(values[0], region.most), min(values[1], region.most)
        region.written = values
        region.grown += 1
        for met in region.meeting:
            if values[0] < met.values[0] or met.values[1] < values[1]:
                met.values = joined(met.values, values)
                self.stale |= met.readers

    def values(self, rank: int, address: int) -> Interval:
        """The values that a cell may hold."""
        return self.region((rank, rank), (address, address)).values
