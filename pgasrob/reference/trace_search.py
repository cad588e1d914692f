"""The `traces` engine in Python: every trace of the SC runs, and for each whether an attack hides in it."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.analysis.line_up import line_up
from pgasrob.program import core
from pgasrob.program.illegal_calls import Claim
from pgasrob.program.instance import Instance
from pgasrob.reference.closing import Choosable, Closing
from pgasrob.reference.exploration import Exploration
from pgasrob.robustness.engine import InOnePart, TraceByTrace, Violation, until
from pgasrob.robustness.moves import Move, Rerun, in_two_parts
from pgasrob.robustness.reasons import TooManyUpdates
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault, SequentialSpace

MOST_EVENTS = 2_000
"""Events of a run beyond which it is taken to have no end; the time that a run takes grows with their square."""


class TraceSearch(TraceByTrace[Exploration], InOnePart):
    """The search of an instance trace by trace.

    Attributes: ``violation`` once found; ``gave_up``, why there is no answer; ``states``, ``transitions`` (events
    looked at) and ``traces``; ``facts`` of the SC runs, which are this object; ``undecided``: the sources, as
    ``choosable`` has them and the step, that are left to other engines. When ``run`` ends without a violation and has
    not given up, the instance is robust. ``choosable``: the steps that may be the source; None: all.
    Of traces that differ in the names of ranks alone some are left out (`analysis.line_up`), unless ``by_name``.
    """

    settled = False

    def __init__(self, instance: Instance, choosable: Choosable | None = None, by_name: bool = False) -> None:
        self._instance, self._choosable = instance, choosable
        self._space = SequentialSpace(instance)
        super().__init__(Exploration(instance, (), True, () if by_name else line_up(instance)))
        self.undecided: set[tuple[int, int, int, int]] = set()
        self.checks_deadlock = instance.can_wait
        self.fault: FoundFault | None = None
        self.failed: dict[Claim, Computation] = {}
        self.deadlock: Computation | None = None
        self.complete = False

    @property
    def facts(self) -> TraceSearch:
        return self

    @property
    def effort(self) -> int:
        """What the kernel would look at in this time, roughly."""
        return 20 * self.states

    @property
    def undecided_sources(self) -> None:
        """The attack search in Python is not restricted to what the traces have left."""
        return None

    def explore(self, most: int | None = None) -> Iterator[None]:
        """The SC runs by themselves."""
        return until(self, self.run(), most)

    def run(self) -> Iterator[None]:
        """Search, yielding after every event; ends when a violation is found or there is none."""
        self._look_at_the_run()
        for trace in self.exploration.run():
            self._look_at_the_run()
            if trace is not None:
                self._look_at_the_end()
                closing = Closing(self._instance, trace, self._choosable)
                for moves in closing.attacks():
                    if moves is not None:
                        self.violation = Violation(*in_two_parts(Rerun(self._instance).words(moves)))
                        return
                    yield
                self.undecided |= closing.undecided
            if reason := self.exploration.gives_up(MOST_EVENTS):
                self.gave_up = reason
                return
            yield
        self.complete = True
        if self.undecided:
            self.gave_up = TooManyUpdates()

    def _look_at_the_run(self) -> None:
        exploration = self.exploration
        if exploration.faults and self.fault is None:
            rank, transition, fault, registers = exploration.faults[0]
            self.fault = FoundFault(rank, transition, str(fault), fault.code, registers, self._computation())
        last = exploration.last
        operands = last and last.operands
        if not isinstance(operands, core.Test) or operands.blocks or operands.condition:
            return
        if operands.claim not in self.failed:
            self.failed[operands.claim] = self._computation()

    def _look_at_the_end(self) -> None:
        """Note a deadlock; a rank before a fault is stuck by that."""
        state = self.exploration.state
        faults = any(True for _ in self._space.faults(state))
        if self.checks_deadlock and self.deadlock is None and not faults and self._space.is_deadlock(state):
            self.deadlock = self._computation()

    def _computation(self) -> Computation:
        """The run so far."""
        moves: list[Move] = self.exploration.moves
        computation, _ = in_two_parts(Rerun(self._instance).words(moves))
        return computation
