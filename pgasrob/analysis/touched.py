"""Sets of accesses: which cells are read and which are written."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.core import Access, Cell


class Touched(NamedTuple):
    """The cells that some accesses read and write, as bit sets."""

    read: int = 0
    written: int = 0

    def hits(self, made: Access[Cell]) -> bool:
        """Whether ``made`` conflicts with one of the accesses."""
        cells = self.read | self.written if made.writes else self.written
        return bool(cells >> made.cell & 1)

    def conflicts(self, other: Touched) -> bool:
        """Whether one of the accesses conflicts with one of ``other``."""
        return bool(self.written & (other.read | other.written) or self.read & other.written)

    def joined(self, other: Touched) -> Touched:
        """These accesses and those of ``other``."""
        return Touched(self.read | other.read, self.written | other.written)

    def adding(self, made: Access[Cell]) -> Touched:
        bit = 1 << made.cell
        return Touched(
            self.read | bit if made.reads else self.read, self.written | bit if made.writes else self.written
        )
