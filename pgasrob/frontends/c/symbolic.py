"""Lowering once for every number of nodes: `me` and `nodes` stay symbols.

One machine does what every rank does. It may not ask for a number: whoever needs one is told that there is none. So
what is made holds for every rank on every number of nodes, or nothing is made (`proofs/every-n.md`, section 7).
"""

from __future__ import annotations

from typing import NoReturn

from pgasrob.frontends.c.problem import Problem
from pgasrob.program.statements import Span


class NumberNeeded(Problem):
    """What a program does here can be said for a number of nodes only."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__("PG146", message, "check the program with the numbers of nodes that matter", span)


class _Everyone(tuple[int, ...]):
    """All ranks, however many there are: equal to itself alone, and nothing can be asked of it."""

    __slots__ = ()

    def _refused(self, *_: object) -> NoReturn:
        raise NumberNeeded("what is done here is another thing on every number of nodes")

    __iter__ = __len__ = __getitem__ = __contains__ = __add__ = __mul__ = __rmul__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = index = count = _refused

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple) and other is not self:
            self._refused()
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash("everyone")

    def __repr__(self) -> str:
        return "everyone"


EVERYONE = _Everyone()
