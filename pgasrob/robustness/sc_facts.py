"""Facts of the SC runs (a fault, a failed assertion, a deadlock), as an engine comes across them or by a search of
their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import Engine, Facts, JoinedFacts, Settings, wanted_reductions
from pgasrob.robustness.sc_traces import ScTraces
from pgasrob.semantics.sequential import SequentialFacts
from pgasrob.twins import search_of_sc_runs

if TYPE_CHECKING:
    from pgasrob.robustness.every_n.proof import Proof


class ScFacts(JoinedFacts):
    """What is known of the SC runs of ``instance`` so far, from whatever search.

    An engine may pass SC runs on its way. Beside it there is a search for the facts alone, for what an engine leaves
    out that has ended early, or passes none, or need not run at all; in large programs first trace by trace. ``proof``:
    one that is about the number of nodes of ``instance``.
    """

    def __init__(self, instance: Instance, engine: Engine, settings: Settings) -> None:
        self._instance, self._settings, self._engine = instance, settings, engine
        self._passed = engine.facts
        self._own: Facts | None = SequentialFacts(instance) if self._passed is None else None
        self._traces: ScTraces | None = None
        self._settled = False
        self.proof: Proof | None = None

    @property
    def passed(self) -> bool:
        """Whether the engine passes the SC runs on its way."""
        return self._passed is not None

    def explore(self, most: int | None, hurry: bool = False) -> Iterator[None]:
        """The search for the facts alone, or the rest of it, a piece per iteration; ends at a fault, after all SC runs,
        or when it has looked at more than ``most`` states, each of its parts if it has several; 0: at traces alone.
        ``hurry``: as of `ScTraces`."""
        if self._passed is not None and self._engine.settled:
            return self._passed.explore(most)  # it searches SC runs alone, when it is asked to
        return self._search(most, hurry)

    def _search(self, most: int | None, hurry: bool) -> Iterator[None]:
        yield from self.traces.explore(hurry)
        if self.traces.facts is None and most != 0:
            if self._own is None:
                settings = self._settings
                wanted = wanted_reductions(settings)
                self._own = search_of_sc_runs(self._instance, wanted, settings.memory, settings.threads)
            yield from self._own.explore(most)

    @property
    def traces(self) -> ScTraces:
        """The SC runs, one of each trace."""
        if self._traces is None:
            self._traces = ScTraces(self._instance, self._settings.memory)
        return self._traces

    @property
    def explored(self) -> int:
        """The states of the search for the facts alone, of the part that is at work if it has several."""
        return self._engine.states_at_work if self._own is None else self._own.states

    @property
    def sources(self) -> list[Facts]:
        traces = None if self._traces is None else self._traces.facts
        return [facts for facts in (self._own, self._passed, traces) if facts is not None]

    @property
    def complete(self) -> bool:
        """Whether all is known of the SC runs; what comes after a fault is not looked at."""
        proved = self.proof is not None and self.proof.settles_facts
        return self.fault is None and (self._settled or proved or super().complete)

    @property
    def all_hold(self) -> bool:
        """Whether all SC runs are known that come to an assertion, so that those of which none shows that it fails
        hold."""
        return self.complete or (self.proof is not None and self.fault is None and self.proof.all_hold)

    @property
    def all_legal(self) -> bool:
        """The same of illegal calls."""
        return self.complete or (self.proof is not None and self.fault is None and self.proof.all_legal)

    @property
    def no_deadlock(self) -> bool:
        """Whether all SC runs are known that end in a deadlock."""
        return self.complete or (self.proof is not None and self.fault is None and self.proof.no_deadlock)

    def settle(self) -> bool:
        """Whether there is nothing to be seen in SC runs, by the text: then all is known of them."""
        from pgasrob.analysis.ends_of_runs import every_run_ends

        instance = self._instance
        self._settled = not instance.has_claims and self.cannot_fault() and every_run_ends(instance)
        return self._settled

    @property
    def checks_deadlock(self) -> bool:
        return self.sources[0].checks_deadlock

    def cannot_fault(self) -> bool:
        """Whether no SC run can fault, whatever has been seen of them."""
        from pgasrob.analysis.faults import cannot_fault

        return self.proof is not None or cannot_fault(self._instance)

    def nothing_to_learn(self) -> bool:
        """Whether there are no assertions, no illegal calls, no deadlocks and no faults to look for."""
        return not self._instance.has_claims and not self.checks_deadlock and self.cannot_fault()
