"""Signals between ranks: a cell of the library's own for each thing that one rank waits for of another.

Each is sent once and received once, so no order between those who send comes from the cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Const, Register

_REGISTER = Register("seen", 0)


class NotSent(Exception):
    """A rank went on before what it should have waited for."""


class Signals:
    """The cells; ``first``: the address of the first cell; the others follow, one byte each. A signal is named by
    ``what`` it says."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._cells: dict[tuple[Hashable, ...], int] = {}
        self._counts: Counter[tuple[Hashable, ...]] = Counter()

    def number(self, *what: Hashable) -> int:
        """How often this was asked of ``what`` before."""
        self._counts[what] += 1
        return self._counts[what] - 1

    def last(self, *what: Hashable) -> int:
        """The last number of ``what``."""
        return self._counts[what] - 1

    def cell(self, *what: Hashable) -> Const:
        """A new cell, in which the signal ``what`` is from now on."""
        address = self._cells[what] = self._next
        self._next += 1
        return Const(address)

    def send(self, to: int, *what: Hashable) -> Command:
        """Send it to the rank ``to``."""
        return commands.FetchAdd(_REGISTER, Const(to), self.cell(*what), Const(1))

    def look(self, *what: Hashable) -> Command:
        """Wait for what others wait for, too. Raises :class:`NotSent`."""
        if what not in self._cells:
            raise NotSent
        return commands.Await(Const(self._cells[what]), "==", Const(1))

    def receive(self, *what: Hashable) -> Command:
        """Wait for it, once and for all. Raises :class:`NotSent`."""
        waits = self.look(*what)
        del self._cells[what]
        return waits
