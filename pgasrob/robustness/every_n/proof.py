"""A proof for every number of nodes, or what is in its way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pgasrob.program.commands import show
from pgasrob.program.control import Transition
from pgasrob.program.core import Transfer

MOST_OPEN = 8
"""Obstacles that are told of; there may be more."""


Kind = Literal["step", "fault", "program", "limit"]


@dataclass(frozen=True)
class Obstacle:
    """Why there is no proof.

    - "step": an attack could not be excluded that begins with a step of ``source``, ``number`` of its steps before it,
      where the source's rank is that of ``case``, and ends with ``closing``, a command of ``rank``;
    - "fault": ``source``, a command of ``rank``, may fault: ``text``;
    - "program": proofs are not about such programs: ``text``;
    - "limit": it takes too long: ``text``.
    """

    kind: Kind
    text: str = ""
    case: str = ""
    source: Transition | None = None
    number: int = 0
    rank: str = ""
    closing: Transition | None = None

    def __str__(self) -> str:
        if self.kind == "step" and self.source and self.closing:
            event = self.source.form.steps[self.number].kind if isinstance(self.source.form, Transfer) else "step"
            return (
                f"could not exclude that {event} of {_told(self.source)}, where its rank is {self.case}, is late for "
                f"{_told(self.closing)} of {self.rank}"
            )
        if self.kind == "fault" and self.source:
            return f"could not exclude that {_told(self.source)} of {self.rank} faults: {self.text}"
        return self.text


def _told(transition: Transition) -> str:
    return f"`{show(transition.command)}` in line {int(transition.span.line)}"


@dataclass
class Proof:
    """What has been found: a proof for all numbers of nodes from ``cutoff`` on when there are no ``obstacles``.

    ``cases``: where the source's rank is, each with the number of steps that were looked at there.
    """

    cutoff: int | None = None
    cases: list[tuple[str, int]] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return self.cutoff is not None and not self.obstacles
