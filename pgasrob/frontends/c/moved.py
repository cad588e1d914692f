"""The numbers that collectives move between ranks, as far as each is the only one that a rank lays out in a cell.

They are looked for only where something is not known that must be (a size, a count): so other programs have no more
passes for them, and what lies in a register there stays what it is."""

from __future__ import annotations

from typing import Literal

from pgasrob.frontends.c.values import ObjectId

Folding = Literal[0, 1, 2]
"""Whether such numbers are looked for: not at all; those that are the same in all calls that use a cell; and with so
many cells for the calls of one collective that few share one."""
FOLDING: tuple[Folding, ...] = (0, 1, 2)
Cell = ObjectId | tuple[ObjectId, int | None]
"""A cell of a collective's own, or a scalar of the program by its object and offset (None: any)."""
SLOTS = 64
"""So many sets of cells a collective has then."""


class NotLaid(Exception):
    """No rank has laid out what this one needs: the rank goes no further in this pass."""


class Moved:
    """``folding``: what is looked for. ``seen``: whether there are any collectives. ``numbers``: by the rank that lays
    it out and its cell, or the place of the scalar in memory of that rank where it comes to; None: there are several,
    or it is not known. ``awaited``: what was needed in this pass, and nobody had laid it out."""

    def __init__(self, folding: Folding) -> None:
        self.folding = folding
        self.seen = False
        self.numbers: dict[tuple[int, Cell], int | None] = {}
        self.awaited: set[tuple[int, Cell]] = set()

    @property
    def slots(self) -> int | None:
        """In how many sets of cells a collective lays out in turn; None: in as many as it needs by itself."""
        return SLOTS if self.folding == 2 else None

    def lay(self, rank: int, cell: Cell, number: int | None) -> bool:
        """``rank`` lays out ``number`` in ``cell``, or it is brought there. Whether that is new."""
        key = rank, cell
        if key not in self.numbers:
            self.numbers[key] = number
            return True
        if self.numbers[key] in (None, number):
            return False
        self.numbers[key] = None
        return True

    def laid(self, rank: int, cell: Cell) -> int | None:
        """The one number that ``rank`` lays out in ``cell``, if there is one. Raises :class:`NotLaid`."""
        if (rank, cell) not in self.numbers:
            self.awaited.add((rank, cell))
            raise NotLaid
        return self.numbers[rank, cell]

    def only(self, rank: int, id: ObjectId, offset: int) -> int | None:
        """The only number that is brought to the scalar at ``offset`` in memory of ``rank``, if there is one."""
        return None if (rank, (id, None)) in self.numbers else self.numbers.get((rank, (id, offset)))

    def give_up(self) -> bool:
        """Wait no longer for what was awaited in this pass, in which nothing else was learned. Was there any?"""
        self.numbers.update(dict.fromkeys(self.awaited))
        return bool(self.awaited)
