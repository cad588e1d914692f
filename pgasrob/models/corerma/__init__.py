"""coreRMA: puts, gets, flushes and remote atomics by axioms (A. M. Dan, P. Lam, T. Hoefler, M. Vechev, *Modeling and
Analysis of Remote Memory Access Programming*, OOPSLA 2016).

`program_actions` has what statements are made of (Table 3), `order_rules` the rules (Figure 4), `consistent_executions`
all executions and `outcome_search` one for each outcome, `explanation` the rules that forbid an outcome. How the paper
is read where it is silent or wrong is in `proofs/models.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from pgasrob.models.corerma import order_rules as rules
from pgasrob.models.corerma.consistent_executions import Frame, Settings
from pgasrob.models.corerma.execution_graphs import execution_of
from pgasrob.models.corerma.explanation import explained
from pgasrob.models.corerma.outcome_search import outcomes
from pgasrob.models.corerma.program_actions import FORMS, actions_of
from pgasrob.models.litmus.litmus_program import Outcome, Program, Value
from pgasrob.models.model_interface import Execution, Forbidden, Outcomes, Refusal
from pgasrob.models.model_table import Options
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch


@dataclass(frozen=True)
class CoreRma(Settings):
    """coreRMA with its settings, stock without arguments."""

    name: ClassVar[str] = "corerma"
    semantics: ClassVar[str | None] = None
    RULES: ClassVar[tuple[str, ...]] = rules.RULES

    @property
    def variant(self) -> str:
        return ", ".join(Options(**asdict(self)).words)

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return FORMS.refusals(program)

    def frame(self, program: Program) -> Frame:
        """The actions of ``program`` and the rules. Raises :class:`Refused`."""
        FORMS.require(program)
        return Frame(actions_of(program), self)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises :class:`Refused`."""
        frame = self.frame(program)
        found: dict[Outcome, Execution] = {}
        count = 0

        def look_around() -> None:
            nonlocal count
            count += 1
            if watch is not None:
                watch.look_around("the executions", count)

        with until_limit() as stopped:
            for candidate in outcomes(frame, look_around):
                if candidate.outcome not in found:
                    found[candidate.outcome] = execution_of(frame, candidate)
        return Outcomes(found, stopped.reason, count)

    def executions(self, program: Program, watch: Watch | None = None) -> Iterator[Execution]:
        """All consistent executions. With ``hb="any"`` one for each way to read, to order atomic writes and to order or
        not to order accesses in conflict: orders of other actions make no difference. Raises :class:`Refused`."""
        frame = self.frame(program)
        for count, candidate in enumerate(frame.candidates(), 1):
            if watch is not None:
                watch.look_around("the executions", count)
            yield execution_of(frame, candidate)

    def forbidden(self, program: Program, outcome: Mapping[str, Value]) -> Forbidden | None:
        """Why no consistent execution has the values of ``outcome``; None when one has. Raises :class:`Refused`."""
        return explained(self.frame(program), outcome)


__all__ = ["CoreRma"]
