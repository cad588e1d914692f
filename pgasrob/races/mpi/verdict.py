"""The answer about a program in a memory model of MPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pgasrob.races.mpi.actions import Action

if TYPE_CHECKING:
    from pgasrob.diagnostics import Diagnostic
    from pgasrob.program.assumptions import Assumption
    from pgasrob.program.statements import Span
    from pgasrob.races.mpi.status import Drawn

MemoryModel = Literal["unified", "separate"]
Status = Literal["defined", "eventual", "undefined", "unknown", "error"]
"""``defined``: no execution has a race, and every call is allowed where it stands. ``eventual``: so it is, but for
loads in loops that poll, which see what others put there at some time (section 3.5)."""
Missing = Literal["happens-before", "consistency"]


@dataclass(frozen=True, slots=True)
class ModelRace:
    """Two conflicting actions that are not ordered by consistent happens-before (3.3.2), and what is ``missing``."""

    first: Action
    second: Action
    missing: Missing


@dataclass(frozen=True, slots=True)
class Misuse:
    """A call that is not allowed where it stands (3.1); ``rule``: the number in the paper or of the reading."""

    rank: int
    span: Span
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """``races``: one for each pair of places and of kinds of access, the first found first; one alone unless all were
    asked for. ``execution``: the one with the first of the ``races`` or ``misuses``, else the last one that was looked
    at. ``executions``: how many were. ``reason``: why there is no answer."""

    file: str
    program: str | None
    nodes: int | None
    model: MemoryModel
    status: Status
    races: tuple[ModelRace, ...] = ()
    misuses: tuple[Misuse, ...] = ()
    execution: Drawn | None = None
    executions: int = 0
    reason: str | None = None
    errors: tuple[Diagnostic, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
