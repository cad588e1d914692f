"""The `portfolio` engine: first the method that settles most programs at once, then the other engines in turns.

Infeasibility says which steps are the source of no attack; if none is left there is no violation. Then the traces are
gone through, of which most programs have few; large programs begin with that. Beside them the attack search is asked,
which always ends. Each of the two goes on in its turn where it has stopped, with a budget that doubles, up to the limit
of states, which is for each by itself. So a program that one of them settles within the limit is settled, however hard
it be for the other, and what this costs is in proportion to what the one takes alone. Where neither has decided in its
first turn, short cycles are looked for, once and within a small budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from weakref import proxy

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import (
    PASSING,
    SEARCHING,
    Engine,
    Facts,
    JoinedFacts,
    Settings,
    TraceEngine,
    Violation,
    knows_traces,
    longest_run,
    wanted_reductions,
)
from pgasrob.robustness.reasons import Reason, StateLimit, WaitsByValue
from pgasrob.robustness.reduction.infeasibility import choosable, is_settled
from pgasrob.robustness.short_cycles import ShortCycles
from pgasrob.robustness.turns import FIRST, Part, budgets
from pgasrob.robustness.watch import at
from pgasrob.semantics.happens_before import is_violating
from pgasrob.semantics.sequential import FoundFault
from pgasrob.twins import attack_search, search_of_sc_runs, trace_search

TRACES, ATTACK, SC_RUNS, SHORT = "traces", "attack", "SC runs", "short cycles"
SMALL = 200
"""Commands of all ranks up to which infeasibility, for which the ranges of all values are needed, is asked first."""
EVENTS_PER_STATE, EFFORT_PER_RANK, COMMANDS_PER_EFFORT = 4, 2.5, 8
"""The traces may look at so many events for each state that the attack search may look at, and take so much effort for
each rank, in a large program one more for so many commands: as much time, about."""
EFFORT_PER_COMMAND, EVENTS_PER_COMMAND = 2_000, 100
"""In a large program they may besides take so much effort for each command, and look at so many events: about what it
takes where there are few traces."""
BEFORE_INFEASIBILITY = 0.1
"""The share of that which they may take before infeasibility is asked."""
FOR_SHORT_CYCLES = 10_000
"""States that the search for short cycles may look at, once neither of the others has decided in its first turn: part
of a second."""
SHORTEST_FIRST = 20_000
"""SC states among which the shortest run is looked for that shows what the traces have shown."""


class PortfolioSearch:
    """The search of an instance, part by part.

    Attributes: ``violation`` once found; ``settled_by``: the part that has decided, infeasibility, traces or attack;
    ``searches``: the engines that have been asked, by name; ``states``, ``transitions`` of all of them; ``facts`` of
    the SC runs; ``nothing_to_search``: infeasibility has settled it, and the SC runs have nothing to show.
    """

    def __init__(self, instance: Instance, settings: Settings) -> None:
        self._instance, self._settings = instance, settings
        self._cost = _Cost(instance)
        self._sources: list[int] | None = None
        self.settled_by = ""
        self.nothing_to_search = False
        self.searches: dict[str, Engine] = {}
        self._parts: dict[str, Part] = {}
        self._traces: TraceEngine | None = None
        self._both = (TRACES, ATTACK) if knows_traces(instance) else (ATTACK,)
        self._turn = self._both[0]
        self._by_value = False  # whether the attack search has found what is a violation by value alone
        self.violation: Violation | None = None
        self.gave_up: Reason | None = None
        self.sc_runs: Facts | None = None
        self.shortest: Facts | None = None
        self.looked_for_shorter_runs = False
        self.facts = PortfolioFacts(self, instance)

    @property
    def settled(self) -> bool:
        """Whether it is known that no step can be the source, so that there is no violation."""
        return self._sources is not None and not any(self._sources)

    @property
    def states(self) -> int:
        return sum(search.states for search in self.searches.values())

    @property
    def states_at_work(self) -> int:
        part = self._parts.get(self._turn)
        return part.states if part else 0

    @property
    def transitions(self) -> int:
        return sum(search.transitions for search in self.searches.values())

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        search = self.searches.get(self._turn)
        return " ".join(filter(None, (self._turn, search.doing if search else "")))

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found, there is none, or nobody can tell."""
        most = self._settings.max_states
        if self._cost.commands > SMALL and TRACES in self._both:
            yield from self._take_turn(TRACES, FIRST, most)
        if not self.facts.fault and not self._is_settled_by(TRACES):
            self._ask_for_sources()
            self._cost.bonus = 1.0
        if not self.facts.fault and not self.settled_by:
            yield from self._take_turns(self._both, most, self._is_settled_by)
        if not self.settled_by and not self.facts.fault:
            assert most is not None or self._by_value, "else the attack search has come to its end"
            self.gave_up = WaitsByValue(ATTACK) if self._by_value else StateLimit(most or 0)

    def learn(self, most: int | None) -> Iterator[None]:
        """Look at the SC runs for their facts alone, where infeasibility has settled the rest: by two searches, of
        which each may look at ``most`` states, until all runs have been seen or there is a fault."""
        if not self.nothing_to_search:
            names = tuple(SC_RUNS if name == ATTACK else name for name in self._both)
            yield from self._take_turns(names, most, lambda _: self.facts.complete)

    def _take_turns(self, names: tuple[str, ...], most: int | None, decides: Callable[[str], bool]) -> Iterator[None]:
        """Let the parts search, each up to ``most`` states, until one ``decides``, there is a fault, or all are
        over."""
        for number, budget in enumerate(budgets()):
            if number == 1 and ATTACK in names and (most is None or most > FIRST):
                yield from self._take_turn(SHORT, FOR_SHORT_CYCLES, most)
                if self.searches[SHORT].violation is not None and not self.facts.fault:
                    self.violation, self.settled_by = self.searches[SHORT].violation, SHORT
                    return
            for name in names:
                yield from self._take_turn(name, budget, most)
                if self.facts.fault or decides(name):
                    return
            if all(self._parts[name].over for name in names):
                return

    def _take_turn(self, name: str, budget: int, most: int | None) -> Iterator[None]:
        """Let a part search until it has spent ``budget`` in all; a fault that it meets ends it."""
        self._turn = name
        at(PASSING if name == SC_RUNS else SEARCHING.format(name))
        if name not in self._parts:
            self._parts[name] = self._made(name)
        part, facts = self._parts[name], self.searches[name].facts if name in self.searches else self.sc_runs
        part.most = most
        for _ in part.search_until(budget):
            yield
            if facts is not None and facts.fault:
                break
        if name == TRACES and facts is not None and (facts.fault or part.ended) and not self.looked_for_shorter_runs:
            yield from self._look_for_shorter_runs(facts)

    def _is_settled_by(self, name: str) -> bool:
        """Whether the part has been asked and has found a violation, or that there is none."""
        search = self.searches.get(name)
        if search is None:
            return False
        if search.violation is None:
            settled = search.gave_up is None and self._parts[name].ended
        else:
            settled = name == TRACES or self._is_one(search.violation)
        if settled:
            self.violation, self.settled_by = search.violation, name
        return settled

    def _is_one(self, claimed: Violation) -> bool:
        """Whether what the attack search has found is a violation where waits are read by condition: it reads them by
        value."""
        if not self._by_value:
            self._by_value = not is_violating(self._instance, claimed.computation)
        return not self._by_value

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

    def _made(self, name: str) -> Part:
        instance, settings = self._instance, self._settings
        if name == SC_RUNS:
            self.sc_runs = search_of_sc_runs(instance, wanted_reductions(settings), settings.memory, settings.threads)
            return Part(self.sc_runs, self.sc_runs.explore())
        if name == SHORT:
            assert self._sources is not None, "infeasibility comes first"
            short = self.searches[name] = ShortCycles(instance, self._sources)
            return Part(short, short.run())
        if name == ATTACK:
            left = self._traces.undecided_sources if self._traces else None
            sources = self._sources if left is None else left
            wanted = wanted_reductions(settings)
            attack = attack_search(instance, wanted, settings.memory, settings.threads, sources)
            self.searches[name] = attack
            return Part(attack, attack.run())
        longest = longest_run(instance)
        threads, elsewhere = settings.threads, settings.elsewhere
        self._traces = traces = trace_search(instance, settings.memory, threads, self._sources, longest, elsewhere)
        self.searches[name] = traces
        return Part(traces, traces.run(), partial(self._cost.of, traces))


class _Cost:
    """What a run through the traces of ``instance`` costs. ``bonus``: the share that is free so far of what its size
    gives it."""

    def __init__(self, instance: Instance) -> None:
        self.commands = instance.commands
        self.bonus = BEFORE_INFEASIBILITY
        self._processes = instance.processes

    def of(self, traces: TraceEngine) -> float:
        """What the traces have cost, in states of the attack search."""
        per_state, effort, events = EFFORT_PER_RANK * self._processes, traces.effort, traces.states
        if self.commands > SMALL:
            per_state += self.commands / COMMANDS_PER_EFFORT
            effort -= int(self.bonus * EFFORT_PER_COMMAND * self.commands)
            events -= int(self.bonus * EVENTS_PER_COMMAND * self.commands)
        return max(effort / per_state, events / EVENTS_PER_STATE)


class PortfolioFacts(JoinedFacts):
    """What is true of the SC runs that some part has passed."""

    def __init__(self, search: PortfolioSearch, instance: Instance) -> None:
        self._search: PortfolioSearch = proxy(search)  # which has these facts: a reference would be a cycle
        self.checks_deadlock = instance.can_wait

    @property
    def sources(self) -> list[Facts]:
        search = self._search
        passed = (search.searches[name].facts for name in (ATTACK, TRACES) if name in search.searches)
        return [facts for facts in (search.shortest, search.sc_runs, *passed) if facts is not None]

    @property
    def fault(self) -> FoundFault | None:
        # It ends the check, so a fault that the traces have found has to wait for the run that is shown for it.
        waits = TRACES in self._search.searches and not self._search.looked_for_shorter_runs
        known = self.sources[:-1] if waits else self.sources
        return next((facts.fault for facts in known if facts.fault), None)

    @property
    def complete(self) -> bool:
        return self._search.nothing_to_search or super().complete

    def explore(self, most: int | None = None) -> Iterator[None]:
        """Look at some more of the SC runs per iteration, where the search has nothing else to find."""
        return self._search.learn(most)
