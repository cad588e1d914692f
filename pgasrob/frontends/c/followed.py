"""The branches that a rank takes while all that decides them is known, to be compared with those on other numbers of
nodes (:mod:`pgasrob.frontends.fitting_counts`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.program.statements import Span, Statement

MOST_BRANCHES = 100_000
"""Of one rank. What tells numbers of nodes apart stands near the beginning of programs."""


class Taken(NamedTuple):
    """A branch at a ``place`` of a ``function`` and whether its condition holds; so many statements were ``written``
    before it."""

    function: str
    place: int
    holds: bool
    written: int
    span: Span


@dataclass(slots=True)
class Followed:
    """The branches that a rank takes up to where it may go on in several ways, or to its end.

    ``statements``: all that is written for it, on further branches too.
    """

    taken: list[Taken] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)

    def branch(self, function: str, place: int, holds: bool, written: int, span: Span) -> None:
        """Note a branch that is taken."""
        if len(self.taken) < MOST_BRANCHES:
            self.taken.append(Taken(function, place, holds, written, span))
