"""Programs: what they declare, to be put on any number of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pgasrob.display import Displayed
from pgasrob.program.declarations import Declared
from pgasrob.program.instance import Instance, instantiate
from pgasrob.program.reading import DEFAULT_READING, Reading

DEFAULT_NODES = 2


@dataclass(frozen=True, slots=True, repr=False)
class Program(Displayed, Declared):
    """A PGAS program before the number of nodes is known."""

    def instantiate(self, nodes: int | None = None, reading: Reading = DEFAULT_READING) -> Instance:
        """The program on ``nodes`` nodes (its own count, or 2, when None), every rank partially evaluated.

        ``reading`` says which polls and which conflicts count.

        Raises :class:`pgasrob.diagnostics.SourceError` when a rank has no process block or the count is out of bounds.
        """
        return instantiate(self, self.default_count if nodes is None else nodes, reading)

    @property
    def default_count(self) -> int:
        """The number of nodes where none is asked for: its own count, or 2."""
        return DEFAULT_NODES if self.nodes is None else self.nodes

    def for_every_count(self) -> Program:
        """The program itself: it has ``me`` and ``nodes`` as symbols already."""
        return self


class Instantiable(Protocol):
    """A program that can be put on so many nodes, or be left with ``me`` and ``nodes`` as symbols."""

    def instantiate(self, nodes: int | None, reading: Reading, /) -> Instance: ...
    def for_every_count(self) -> Program: ...
