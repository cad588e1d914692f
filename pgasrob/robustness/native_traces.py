"""The `traces` engine by the native kernel: the same traces in the same order as `reference.trace_search`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import WHOLE, InOnePart, Subtrees, Violation, until
from pgasrob.robustness.kernel_tables import tables
from pgasrob.robustness.native_attack import DecodedFacts, Decoder
from pgasrob.robustness.reasons import Reason, RunTooLong, TooManyUpdates
from pgasrob.semantics.sequential import assumes_are_guesses

PIECE = 1_024
MOST_EVENTS = 1_000_000
"""Events of a run beyond which it is taken to have no end if its ranks come back to where they have been."""


class NativeTraceSearch(DecodedFacts, InOnePart):
    """The search of an instance trace by trace, with what :class:`~pgasrob.reference.trace_search.TraceSearch` has.

    ``sources``: by transition, the steps that may be the source, as bits; None: all. ``part``: what of the exploration
    to go through.
    """

    settled = False

    def __init__(
        self,
        instance: Instance,
        sources: Sequence[int] | None = None,
        memory_limit: int | None = None,
        longest: int = MOST_EVENTS,
        part: Subtrees = WHOLE,
    ) -> None:
        from pgasrob._kernel import Traces

        compiled = tables(instance, (), sources, stores_states=False)
        self.kernel = Traces(
            compiled,
            longest=longest,
            guesses=assumes_are_guesses(instance),
            memory_limit=memory_limit,
            part=(part.levels, part.first, part.end),
        )
        super().__init__(self.kernel, Decoder(instance, compiled))
        self._longest, self._transitions = longest, len(compiled.edges)
        self.violation: Violation | None = None
        self.gave_up: Reason | None = None

    @property
    def facts(self) -> NativeTraceSearch:
        """What is true of the SC runs whose traces have been seen."""
        return self

    @property
    def complete(self) -> bool:
        return self.kernel.complete and not self.kernel.undecided_ends

    def explore(self, most: int | None = None) -> Iterator[None]:
        """The SC runs by themselves."""
        return until(self, self.run(), most)

    @property
    def states(self) -> int:
        return self.kernel.events + 1

    @property
    def transitions(self) -> int:
        return self.kernel.events

    @property
    def traces(self) -> int:
        return self.kernel.traces

    @property
    def subtrees(self) -> int:
        """How many subtrees it has come to, with those that are left to other processes."""
        return self.kernel.subtrees

    @property
    def effort(self) -> int:
        """The events that have been looked at, on the way and in whole traces, and the commands tried there."""
        return self.kernel.effort

    @property
    def undecided_sources(self) -> list[int] | None:
        """The sources that are left to others; None: all."""
        if not self.kernel.complete:
            return None
        left = [0] * self._transitions
        for transition, step in self.kernel.undecided:
            left[transition] |= 1 << step
        return left

    @property
    def redundant(self) -> int:
        """Runs that were given up, since they come to what had been followed."""
        return self.kernel.redundant

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        return f"{self.traces:,} traces"

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none."""
        while not self.kernel.run(PIECE):
            yield
        moves = self.kernel.violation
        if moves is not None:
            self.violation = self._decoder.violation(moves)
        elif self.kernel.gave_up or self.kernel.undecided:
            self.gave_up = TooManyUpdates()
        elif self.kernel.too_long:
            self.gave_up = RunTooLong(self._longest)
