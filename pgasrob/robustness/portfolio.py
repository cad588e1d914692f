"""The `portfolio` engine: first the method that settles most programs at once, then the other engines in turns.

Infeasibility says which steps are the source of no attack; if none is left there is no violation. Then the traces are
gone through, of which most programs have few; large programs begin with that. Then the attack search is asked, which
always ends. Traces and attack have budgets that grow from turn to turn, so that a program that is hard for one of them
costs little more than the other one takes. Budgets count states and events, never time: the answer depends on nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import (
    Engine,
    Facts,
    JoinedFacts,
    Settings,
    TraceEngine,
    Violation,
    longest_run,
    wanted_reductions,
)
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.reduction.infeasibility import choosable, is_settled
from pgasrob.robustness.watch import at
from pgasrob.semantics.sequential import FoundFault
from pgasrob.twins import attack_search, search_of_sc_runs, trace_search

TRACES, ATTACK = "traces", "attack"
TURNS = ((TRACES, 5_000), (ATTACK, 2_000), (TRACES, 100_000), (ATTACK, 50_000), (TRACES, 1_000_000), (ATTACK, None))
"""Who searches next, and up to which effort; None: to its end. That of the traces is for each rank."""
SMALL = 200
"""Commands of all ranks up to which infeasibility, for which the ranges of all values are needed, is asked first."""
EFFORT_PER_COMMAND = 2_000
"""Beyond, the traces may take so much effort for each of them in the first turn, which is about what it would
take, and so much more in every further one."""
SHORTEST_FIRST = 20_000
"""SC states among which the shortest run is looked for that shows what the traces have shown."""


class PortfolioSearch:
    """The search of an instance, part by part.

    Attributes: ``violation`` once found; ``settled_by``: the part that has decided, infeasibility, traces or attack;
    ``states``, ``transitions`` of all parts; ``facts`` of the SC runs; ``nothing_to_search``: infeasibility has settled
    it, and the SC runs have nothing to show.
    """

    def __init__(self, instance: Instance, settings: Settings) -> None:
        self._instance, self._settings = instance, settings
        self._sources: list[int] | None = None
        self.settled_by = ""
        self.nothing_to_search = False
        self._parts: dict[str, Engine] = {}
        self._traces: TraceEngine | None = None
        self._running: dict[str, Iterator[None]] = {}
        self._turn = TRACES
        self.violation: Violation | None = None
        self.gave_up: Reason | None = None
        self.shortest: Facts | None = None
        self.looked_for_shorter_runs = False
        self.facts = PortfolioFacts(self, instance)

    @property
    def parts(self) -> Mapping[str, Engine]:
        """The engines that have been asked."""
        return self._parts

    @property
    def settled(self) -> bool:
        """Whether it is known that no step can be the source, so that there is no violation."""
        return self._sources is not None and not any(self._sources)

    @property
    def states(self) -> int:
        return sum(part.states for part in self.parts.values())

    @property
    def transitions(self) -> int:
        return sum(part.transitions for part in self.parts.values())

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        part = self._parts.get(self._turn)
        return " ".join(filter(None, (self._turn, part.doing if part else "")))

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none."""
        commands = sum(len(automaton.transitions) for automaton in self._instance.automata)
        if commands <= SMALL:
            self._ask_for_sources()
        more = 0 if commands <= SMALL else commands * EFFORT_PER_COMMAND
        for turn, (name, effort) in enumerate(TURNS, 1):
            if name == ATTACK and self._sources is None:
                self._ask_for_sources()
            if self.nothing_to_search or (name == ATTACK and self.settled):
                return  # what the SC runs show besides, their own search learns
            if name == TRACES and TRACES in self._parts and self._parts[TRACES].gave_up:
                continue
            self._turn = name
            at(f"in the {name} engine")
            if name == TRACES and effort is not None:
                effort = effort * self._instance.nodes + more * turn
            yield from self._advance(name, effort)
            part, facts = self._parts[name], self._parts[name].facts
            if facts is not None and name == TRACES and (facts.fault or name not in self._running):
                yield from self._look_for_shorter_runs(facts)
            if part.violation is not None or (name not in self._running and part.gave_up is None):
                self.violation = part.violation
                self.settled_by = self.settled_by or name
                return
            if facts is not None and facts.fault:
                return

    def _advance(self, name: str, effort: int | None) -> Iterator[None]:
        """Let a part search until it has taken ``effort`` in all; one that has ended is not among the running ones."""
        if name not in self._parts:
            self._parts[name] = part = self._made(name)
            self._running[name] = part.run()
        part, running = self._parts[name], self._running[name]
        while effort is None or self._effort(name) < effort:
            try:
                next(running)
            except StopIteration:
                del self._running[name]
                return
            yield
            if part.facts is not None and part.facts.fault:
                return

    def _effort(self, name: str) -> int:
        return self._traces.effort if name == TRACES and self._traces else self._parts[name].states

    def _ask_for_sources(self) -> None:
        """Find out which steps may be the source at all."""
        at("in the infeasibility test")
        self._sources = choosable(self._instance)
        self.nothing_to_search = is_settled(self._instance, self._sources)
        if self.settled:
            self.settled_by = "infeasibility"

    def _look_for_shorter_runs(self, facts: Facts) -> Iterator[None]:
        """Search the SC runs breadth-first for a while for what the traces have shown, in runs that are long."""
        if facts.fault or facts.failed or facts.deadlock is not None:
            self.shortest = shortest = search_of_sc_runs(self._instance, (), self._settings.memory)
            for _ in shortest.explore():
                if shortest.states > SHORTEST_FIRST:
                    break
                yield
        self.looked_for_shorter_runs = True

    def _made(self, name: str) -> Engine:
        settings = self._settings
        if name == ATTACK:
            left = self._traces.undecided_sources if self._traces else None
            sources = self._sources if left is None else left
            wanted = wanted_reductions(settings)
            return attack_search(self._instance, wanted, settings.memory, settings.threads, sources)
        longest = longest_run(self._instance)
        self._traces = trace_search(self._instance, settings.memory, sources=self._sources, longest=longest)
        return self._traces


class PortfolioFacts(JoinedFacts):
    """What is true of the SC runs that some part has passed."""

    def __init__(self, search: PortfolioSearch, instance: Instance) -> None:
        self._search = search
        self.checks_deadlock = instance.can_wait

    @property
    def sources(self) -> list[Facts]:
        search = self._search
        found = [search.shortest, *(search.parts[name].facts for name in (ATTACK, TRACES) if name in search.parts)]
        return [facts for facts in found if facts is not None]

    @property
    def fault(self) -> FoundFault | None:
        # It ends the check, so a fault that the traces have found has to wait for the run that is shown for it.
        waits = TRACES in self._search.parts and not self._search.looked_for_shorter_runs
        known = self.sources[:-1] if waits else self.sources
        return next((facts.fault for facts in known if facts.fault), None)

    @property
    def complete(self) -> bool:
        return self._search.nothing_to_search or super().complete

    def explore(self) -> Iterator[None]:
        """Look at some more of the SC runs per iteration; for those alone who do not run the search."""
        return self._search.run()
