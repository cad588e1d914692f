"""Calls that all ranks have to make, where one machine executes the program for every rank."""

from __future__ import annotations

from typing import cast

from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.program.statements import Span

MADE = "machine.made"
"""Key in `State.notes` of the set of keys under which calls made so far have published something for all ranks."""


class Agreements:
    """Which calls the runs of a rank have made when they end, of those that others take for granted on every rank."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.ends: list[frozenset[str]] = []
        self.calls: dict[str, tuple[str, Span]] = {}

    def by_all(self, key: str, name: str, span: Span) -> None:
        """Note that all ranks have to make the call of function ``name`` here, which publishes ``key``."""
        self.calls[key] = name, span
        self.position.state.notes[MADE] = self._made | {key}

    def end(self) -> None:
        """Note which calls have been made where the rank ends."""
        self.ends.append(self._made)

    @property
    def _made(self) -> frozenset[str]:
        return cast("frozenset[str]", self.position.state.notes.get(MADE, frozenset()))

    def check(self) -> None:
        """Raises :class:`NumberNeeded` where only some ends have made a call: which ranks come to these ends, on which
        numbers of nodes, is not known."""
        for key, (name, span) in self.calls.items():
            if any(key not in made for made in self.ends):
                raise NumberNeeded(f"`{name}` is called on some paths only, so perhaps not by all ranks", span)
