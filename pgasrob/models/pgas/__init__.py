"""The calculus of this project as a memory model of litmus programs, to be compared with the other models.

`from_litmus` translates a litmus program to a PGAS program, and refuses what has no counterpart; `runs.enumeration`
finds the outcomes of that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.model_interface import Execution, Outcomes, Refusal, Refused
from pgasrob.models.pgas.from_litmus import Translation, refusals, translate
from pgasrob.models.pgas.run_graphs import execution_of
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.watch import Watch
from pgasrob.runs.enumeration import Enumeration, heights_of
from pgasrob.semantics.endings import Place
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace

Semantics = Literal["fifo", "unordered"]
PHASE = "runs in the calculus"


@dataclass(frozen=True, slots=True)
class Pgas:
    """The calculus with a queue for each peer. ``semantics``: the operations in one queue take effect in the order of
    their issue, stage by stage (fifo), or in any order."""

    semantics: Semantics = "fifo"
    name: ClassVar[str] = "pgas"

    @property
    def variant(self) -> str:
        """Unlike the semantics of other models these two differ in their outcomes."""
        return "unordered" if self.semantics == "unordered" else ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return refusals(program)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        translation = translate(program, unordered=self.semantics == "unordered")
        return _outcomes(translation, False, watch)

    def sequential(self, program: Program) -> Outcomes:
        """The outcomes of the runs in which every operation takes all of its steps at its issue."""
        return _outcomes(translate(program, unordered=False), True, None)


def _outcomes(translation: Translation, sequential: bool, watch: Watch | None) -> Outcomes:
    instance, program = translation.instance(), translation.litmus
    look_at = tuple(
        Place(name, 0, None, translation.cells[name]) for name in (location.name for location in program.locations)
    )
    registers = tuple(
        Place("", translation.ranks[thread.node], register, None)
        for thread, mine in zip(program.threads, translation.registers, strict=True)
        for register in mine
    )
    heights = [heights_of(instance, rank) for rank in range(instance.nodes)]
    runs: Enumeration[Any] = Enumeration(
        instance, SequentialSpace(instance) if sequential else StateSpace(instance), (*look_at, *registers), heights
    )
    reason: Reason | None = runs.run(watch or Watch(Limits(), None, time.monotonic()), PHASE)
    if runs.faults:
        spans = translation.spans
        raise Refused(
            tuple(
                Refusal(f"an expression has no value: {fault}", spans[rank][occurrence])
                for (rank, _, occurrence), fault in sorted(runs.faults.items())
            )
        )
    found: dict[Outcome, Execution] = {}
    for key in sorted(runs.found):
        if key.ending != "ended":
            continue  # an assume does not hold, or a poll has nothing to wait for
        outcome = _outcome(program, key.values)
        found[outcome] = execution_of(translation, instance, runs.computation(runs.found[key].node), outcome)
    return Outcomes(found, reason, runs.states)


def _outcome(program: Program, values: tuple[int, ...]) -> Outcome:
    """The outcome with these values of all locations, then of all registers."""
    count = len(program.locations)
    memory, rest = values[:count], list(values[count:])
    files = []
    for thread in program.threads:
        files.append(tuple(rest[: len(thread.registers)]))
        del rest[: len(thread.registers)]
    return program.outcome(memory, tuple(files))


__all__ = ["Pgas", "Semantics", "Translation", "translate"]
