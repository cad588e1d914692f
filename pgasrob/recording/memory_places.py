"""Maps addresses of a recorded run to places: memory that is the same on all ranks, or that a library has for
itself."""

from __future__ import annotations

from bisect import bisect_right, insort

from pgasrob.runtime.record.records import Region

SHIFT = 48
"""Addresses are ``place << SHIFT | offset``, in bytes."""
SYMMETRIC, STATIC, WINDOW, _BUFFER, OF_ANOTHER = 1, 2, 3, 4, 5
"""Kinds of regions. The last one is memory of another rank, mapped here."""
_SHARED = {SYMMETRIC: 1, STATIC: 0, WINDOW: 3}
"""The kinds of regions that are places of all ranks, in the order in which they name memory."""


class NotSupported(Exception):
    """There is something in the trace of which it is not known what it means; says what and where."""


class Places:
    """The memory of so many ``ranks``. ``numbers``: what each place is, ``made_up``: those that a library has for
    itself; ``regions``: of places with names of their own a rank and its region. What asks for memory that is not what
    a call needs raises :class:`NotSupported`."""

    def __init__(self, ranks: int) -> None:
        self.numbers: dict[tuple[object, ...], int] = {}
        self.made_up: set[int] = set()
        self.regions: dict[int, tuple[int, Region]] = {}
        self._buffers = [0] * ranks  # how many buffers of the rank are in use
        self._versions = [0] * ranks
        self._by_number: list[tuple[object, ...]] = []
        self._regions: list[dict[int, Region]] = [{} for _ in range(ranks)]
        self._starts: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]  # address, region

    def begin(self, rank: int, region: Region) -> bool:
        """Whether there was none of that number."""
        if region.region in self._regions[rank]:
            return False
        self._regions[rank][region.region] = region
        insort(self._starts[rank], (region.address, region.region))
        self._buffers[rank] += region.kind == _BUFFER
        if region.kind in _SHARED:
            self.regions.setdefault(self.place(region.kind, region.identity), (rank, region))
        return True

    def end(self, rank: int, number: int) -> None:
        gone = self._regions[rank].pop(number, None)
        if gone is not None:
            self._starts[rank].remove((gone.address, gone.region))
            self._buffers[rank] -= gone.kind == _BUFFER

    def place(self, *what: object) -> int:
        """The number of a place."""
        return self.numbers.setdefault(what, len(self.numbers))

    def what(self, number: int) -> tuple[object, ...]:
        """What a place is."""
        if len(self._by_number) < len(self.numbers):
            self._by_number = list(self.numbers)
        return self._by_number[number]

    def own(self, *what: object) -> int:
        """The address of something that the library has for itself."""
        place = self.place(*what)
        self.made_up.add(place)
        return place << SHIFT

    def _region(self, rank: int, address: int) -> Region | None:
        """The region that an address of ``rank`` is in, that of a program's variable before that of a window."""
        end = bisect_right(self._starts[rank], (address, 1 << 62))
        found = [self._regions[rank][number] for _, number in self._starts[rank][:end]]
        inside = [each for each in found if each.address <= address < each.address + max(each.bytes, 1)]
        return min(inside, key=lambda each: _SHARED.get(each.kind, 2), default=None)

    def at(self, rank: int, address: int) -> tuple[int, int] | None:
        """Whose memory an address of ``rank`` is, and where there; None for memory that does not matter."""
        region = self._region(rank, address)
        if region is None:
            return None
        offset = address - region.address
        if region.kind == OF_ANOTHER:
            return region.rank, self.remote(rank, region.rank, region.remote + offset)
        if region.kind in _SHARED:
            return rank, self.place(region.kind, region.identity) << SHIFT | offset
        return rank, self._private(rank, address)

    def _private(self, rank: int, address: int) -> int:
        return self.place("buffer", rank, self._versions[rank]) << SHIFT | address

    def renew(self, rank: int, address: int) -> bool:
        """Private memory that nothing pending uses has changed, which nobody has recorded: from here on it is another
        place. False: it may be in use."""
        region = self._region(rank, address)
        if self._buffers[rank] > (region is not None and region.kind == _BUFFER):
            return False
        self._versions[rank] += 1
        return True

    def remote(self, rank: int, target: int, address: int) -> int:
        """Where a symmetric address of ``rank`` is at ``target``."""
        region = self._region(rank, address)
        if region is None or region.kind not in (SYMMETRIC, STATIC):
            raise NotSupported(f"rank {rank} accesses memory of rank {target} that is not symmetric")
        return self.place(region.kind, region.identity) << SHIFT | address - region.address

    def in_window(self, target: int, window: int, offset: int) -> int:
        """Where so many bytes after the beginning of a window are at ``target``."""
        for region in self._regions[target].values():
            if region.kind == WINDOW and region.identity == window and offset < region.bytes:
                at = self.at(target, region.address + offset)
                assert at is not None
                return at[1]
        raise NotSupported(f"an operation goes to rank {target}, outside its memory of the window, or that is dynamic")

    def local(self, rank: int, address: int) -> int:
        """Where an address of ``rank`` is among what it alone accesses, or its own part of what all do."""
        at = self.at(rank, address)
        return self._private(rank, address) if at is None or at[0] != rank else at[1]
