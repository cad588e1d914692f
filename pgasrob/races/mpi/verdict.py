"""The answer about a program in a memory model of MPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pgasrob.races.mpi.findings import MemoryModel, Misuse, ModelRace
from pgasrob.races.mpi.status import Drawn

if TYPE_CHECKING:
    from pgasrob.diagnostics import Diagnostic
    from pgasrob.program.assumptions import Assumption
    from pgasrob.program.instance import Instance

Status = Literal["defined", "eventual", "undefined", "unknown", "error"]
"""``defined``: no execution has a race, and every call is allowed where it stands. ``eventual``: so it is, but for
loads in loops that poll, which see what others put there at some time (section 3.5)."""


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """``races``: one for each pair of places and of kinds of access, the first found first; one alone unless all were
    asked for. ``execution``: the one with the first of the ``races`` or ``misuses``, else the last one that was looked
    at. ``executions``: how many were. ``reason``: why there is no answer. ``instance``: what was looked at, None where
    there is an error."""

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
    instance: Instance | None = None
