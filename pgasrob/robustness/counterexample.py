"""Turns the violation or fault that an engine claims into the run that is shown: shortened, replayed and judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import Violation
from pgasrob.robustness.reasons import FaultReached, InternalError
from pgasrob.robustness.shrink import MANY, Shrinking, Shrunk
from pgasrob.robustness.verdict import Fault, Witness
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.semantics.sc_order import order_of
from pgasrob.semantics.sequential import FoundFault


class Counterexample:
    """A violation of ``instance`` that ``engine`` claims.

    ``fewest``: whether there is none with fewer commands.
    """

    def __init__(self, instance: Instance, engine: str, claimed: Violation) -> None:
        self._instance, self._engine = instance, engine
        self._marked = claimed.marks is not None
        self._violation = claimed
        self._fewest = False
        self._shrinking: Shrinking | None = None
        self._latest: tuple[Violation, Witness | InternalError] | None = None

    def has_fewest_commands(self, violation: Violation | None = None) -> None:
        """Note that the violation, or ``violation`` in its place, is one with the fewest commands."""
        self._violation, self._fewest = violation or self._violation, True

    def leave_out(self) -> Iterator[None]:
        """Leave out what the violation does not need, yielding many times; wherever it ends it has found something."""
        if self._shrinking is None or self._shrinking.violation is not self._violation:
            self._shrinking = Shrinking(self._instance, self._violation)
        return self._shrinking.run()

    def judged(self) -> Witness | InternalError:
        """The run to show, replayed: only a complete computation with a cycle makes the program not robust."""
        violation = self._violation
        if self._shrinking is None and self._instance.processes > MANY:
            self._shrinking = Shrinking(self._instance, violation)
            self._shrinking.focus()
        small, irreducible, run = self._shrinking.found if self._shrinking else Shrunk(violation)
        irreducible = irreducible or self._fewest or None
        if self._shrinking is None or not self._shrinking.replayed:
            witness = self._replayed(violation, irreducible if small is violation else None)
            if isinstance(witness, InternalError) or small is violation:
                return witness
        smaller = self._replayed(small, irreducible, run)
        return self._replayed(violation, None) if isinstance(smaller, InternalError) else smaller

    def _replayed(
        self, violation: Violation, irreducible: bool | None, run: Run | None = None
    ) -> Witness | InternalError:
        if self._latest is None or self._latest[0] != violation:
            self._latest = violation, self._judged_anew(violation, run)
        found = self._latest[1]
        return found if isinstance(found, InternalError) else replace(found, irreducible=irreducible)

    def _judged_anew(self, violation: Violation, run: Run | None) -> Witness | InternalError:
        try:
            run = run or replay(self._instance, violation.computation)
        except ReplayError as error:
            return InternalError.of_run(self._engine, f"does not replay: {error}")
        relation = HappensBefore.of(run)
        cycle = relation.cycle
        if not run.complete or cycle is None:
            lacking = "a happens-before cycle" if run.complete else "the end of its operations"
            return InternalError.of_run(self._engine, f"lacks {lacking}")
        marks, cycle_type = violation.marks, violation.cycle_type
        if marks is None and self._marked:
            from pgasrob.robustness.marking import marks_of

            marks, cycle_type = marks_of(cycle, run.computation)
        return Witness(
            "violation",
            run,
            cycle,
            violation.parts,
            marks,
            cycle_type,
            sequential=order_of(relation, self._instance),
        )


def fault_witness(instance: Instance, found: FoundFault) -> Witness:
    """The run to a fault that a search has found, replayed."""
    fault = Fault.at(instance, found.rank, found.transition, (found.reason, found.code), found.registers)
    return Witness("fault", replay(instance, found.run), fault=fault)


def fault_reached(witness: Witness) -> FaultReached:
    """Why a program with this run to a fault is in error."""
    fault = witness.fault
    assert fault is not None
    return FaultReached(fault.rank, fault.command, fault.reason)
