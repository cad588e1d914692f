"""What can be wrong with an execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgasrob.program.statements import Span
from pgasrob.races.mpi.actions import Action

MemoryModel = Literal["unified", "separate"]
Missing = Literal["happens-before", "consistency"]


@dataclass(frozen=True, slots=True)
class ModelRace:
    """Two conflicting actions that are not ordered by consistent happens-before (3.3.2), and what is ``missing``."""

    first: Action
    second: Action
    missing: Missing

    @property
    def actions(self) -> tuple[Action, Action]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class Misuse:
    """A call that is not allowed where it stands (3.1); ``rule``: the number in the paper or of the reading."""

    rank: int
    span: Span
    rule: str
    message: str
