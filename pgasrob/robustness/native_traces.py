"""The `traces` engine by the native kernel: the same traces in the same order as `reference.trace_search`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.analysis.line_up import line_up
from pgasrob.analysis.symmetry import alike
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import InOnePart, TraceByTrace, until
from pgasrob.robustness.kernel_tables import tables
from pgasrob.robustness.native_attack import DecodedFacts, Decoder
from pgasrob.robustness.reasons import RunTooLong, TooManyUpdates
from pgasrob.robustness.trace_parts import Beginning, DividedTraces, Elsewhere
from pgasrob.semantics.sequential import assumes_are_guesses

PIECE = 1_024
MOST_EVENTS = 1_000_000
"""Events of a run beyond which it is taken to have no end if its ranks come back to where they have been."""


class NativeTraceSearch(TraceByTrace[DividedTraces], DecodedFacts, InOnePart):
    """The search of an instance trace by trace, with what :class:`~pgasrob.reference.trace_search.TraceSearch` has.

    ``sources``: by transition, the steps that may be the source, as bits; None: all. With several ``threads``, and
    with processes ``elsewhere``, a large search takes less time and finds the same, trace for trace.
    Of traces that differ in the names of ranks alone some are left out (`analysis.line_up`), unless ``by_name``.
    """

    settled = False

    def __init__(
        self,
        instance: Instance,
        sources: Sequence[int] | None = None,
        memory_limit: int | None = None,
        longest: int = MOST_EVENTS,
        threads: int = 1,
        elsewhere: Elsewhere | None = None,
        by_name: bool = False,
    ) -> None:
        compiled = tables(instance, (), sources, stores_states=False, by_condition=True)
        behind = [] if by_name else line_up(instance)
        begin = Beginning(compiled, longest, assumes_are_guesses(instance), memory_limit, behind)
        exploration = DividedTraces(begin, threads - 1, elsewhere)
        TraceByTrace.__init__(self, exploration)
        DecodedFacts.__init__(self, exploration, Decoder(instance, compiled))
        self._longest, self._instance, self._transitions = longest, instance, len(compiled.edges)

    @property
    def facts(self) -> NativeTraceSearch:
        """What is true of the SC runs whose traces have been seen."""
        return self

    @property
    def complete(self) -> bool:
        return self.exploration.complete and not self.exploration.undecided_ends

    def explore(self, most: int | None = None) -> Iterator[None]:
        """The SC runs by themselves."""
        return until(self, self.run(), most)

    @property
    def effort(self) -> int:
        """The events that have been looked at, on the way and in whole traces, and the commands tried there."""
        return self.exploration.effort

    @property
    def undecided_sources(self) -> list[int] | None:
        """The sources that are left to others; None: all."""
        if not self.exploration.complete:
            return None
        left = [0] * self._transitions
        for transition, step in self.exploration.undecided:
            left[transition] |= 1 << step
        return alike(self._instance, left)

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none."""
        while not self.exploration.run(PIECE):
            yield
        moves = self.exploration.violation
        if moves is not None:
            self.violation = self._decoder.violation(moves)
        elif self.exploration.gave_up or self.exploration.undecided:
            self.gave_up = TooManyUpdates()
        elif self.exploration.too_long:
            self.gave_up = RunTooLong(self._longest)
