"""Sets of accesses as bit sets of cells: those read, those written, and those updated by each commuting kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import NamedTuple

from pgasrob.program.core import Access, Cell

Updated = tuple[tuple[str, int], ...]
"""For each kind of update that commutes with its own the cells that are updated so, in alphabetical order."""


class Touched(NamedTuple):
    """The cells that some accesses touch, as bit sets, by the ways that conflict with different accesses.

    ``read`` and ``written``: by accesses that commute with no other (an atomic that fetches is in both). ``updated``:
    by those that do, by kinds (:attr:`~pgasrob.program.core.Access.commutes`).
    """

    read: int = 0
    written: int = 0
    updated: Updated = ()

    @property
    def used(self) -> int:
        """The cells whose values the accesses may use."""
        return self.read | self._updated

    @property
    def changed(self) -> int:
        """The cells whose values the accesses may change."""
        return self.written | self._updated

    @property
    def cells(self) -> int:
        """All of them."""
        return self.read | self.written | self._updated

    @property
    def _updated(self) -> int:
        return reduce(or_, (cells for _, cells in self.updated), 0)

    def has(self, made: Access[Cell]) -> bool:
        """Whether ``made``, which commutes with its own kind, is one of the accesses."""
        return any(kind == made.commutes and cells >> made.cell & 1 for kind, cells in self.updated)

    def hits(self, made: Access[Cell]) -> bool:
        """Whether ``made`` conflicts with one of the accesses."""
        cells = self.written | (self.read if made.writes else 0)
        cells = reduce(or_, (found for kind, found in self.updated if kind != made.commutes), cells)
        return bool(cells >> made.cell & 1)

    def conflicts(self, other: Touched) -> bool:
        """Whether one of the accesses conflicts with one of ``other``."""
        if self.written & other.cells or self.cells & other.written:
            return True
        if self._updated & other.read or self.read & other._updated:
            return True
        return any(one & two for kind, one in self.updated for another, two in other.updated if kind != another)

    def met_by(self, later: Touched) -> Touched:
        """Those of the accesses at whose cells one of ``later`` conflicts with them."""
        return Touched(
            self.read & later.changed,
            self.written & later.cells,
            tuple((kind, met) for kind, cells in self.updated if (met := cells & later.not_of(kind))),
        )

    def not_of(self, kind: str) -> int:
        """The cells touched in another way than by updates of ``kind``."""
        return reduce(or_, (cells for other, cells in self.updated if other != kind), self.read | self.written)

    def joined(self, other: Touched) -> Touched:
        """These accesses and those of ``other``."""
        updated = self.updated or other.updated
        if self.updated and other.updated:
            found = dict(self.updated)
            for kind, cells in other.updated:
                found[kind] = found.get(kind, 0) | cells
            updated = tuple(sorted(found.items()))
        return Touched(self.read | other.read, self.written | other.written, updated)

    def with_cells(self, change: Callable[[int], int]) -> Touched:
        """The same accesses to other cells."""
        updated = tuple((kind, change(cells)) for kind, cells in self.updated)
        return Touched(change(self.read), change(self.written), updated)

    def adding(self, made: Access[Cell]) -> Touched:
        return self.joined(touching(1 << made.cell, made.reads, made.writes, made.commutes))


def touching(cells: int, reads: bool, writes: bool, commutes: str) -> Touched:
    """Accesses of one way to all of ``cells``."""
    if not cells or not (reads or writes):
        return Touched()
    if commutes:
        return Touched(updated=((commutes, cells),))
    return Touched(cells if reads else 0, cells if writes else 0)


class Planes(NamedTuple):
    """Sets of accesses as one bit set each: a plane of ``cells`` bits for reads, one for writes, one for each of
    ``kinds`` of updates."""

    cells: int
    kinds: tuple[str, ...]

    def bits(self, touched: Touched) -> int:
        bits = touched.read | touched.written << self.cells
        for kind, cells in touched.updated:
            bits |= cells << self.cells * (2 + self.kinds.index(kind))
        return bits

    def against(self, touched: Touched) -> int:
        """The accesses that conflict with one of ``touched``."""
        bits = touched.changed | touched.cells << self.cells
        for place, kind in enumerate(self.kinds, 2):
            bits |= touched.not_of(kind) << self.cells * place
        return bits

    def touched(self, bits: int) -> Touched:
        plane = (1 << self.cells) - 1
        read, written, *updated = (bits >> self.cells * place & plane for place in range(2 + len(self.kinds)))
        pairs = zip(self.kinds, updated, strict=True)
        return Touched(read, written, tuple((kind, cells) for kind, cells in pairs if cells))
