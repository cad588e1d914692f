"""Decides whether a program has races: searches, asks for robustness where that matters, replays the runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgasrob.program.reading import Reading
from pgasrob.races.access_facts import updates_may_race
from pgasrob.races.found import FoundRace, RaceSearch
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.races.racing_pairs import Pairs, Places
from pgasrob.robustness.check import check
from pgasrob.robustness.counterexample import fault_reached, fault_witness
from pgasrob.robustness.question import EngineChoice, Races, Robustness
from pgasrob.robustness.reasons import (
    InternalError,
    LeftUndone,
    Reason,
    RunsLeftOut,
    ScStateLimit,
    StateLimit,
)
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.session import PREPARING, Failed, Interrupted, Placed, Session
from pgasrob.robustness.verdict import Stats, Verdict
from pgasrob.robustness.watch import GRACE, LimitReached
from pgasrob.semantics.race import Race
from pgasrob.semantics.replay import ReplayError, replay
from pgasrob.semantics.sequential import FoundFault, SequentialFacts
from pgasrob.twins import race_search, race_trace_search

SEARCH, TRACES = "search", "traces"
DEFAULT_ENGINE = SEARCH
RACE_ENGINES = (SEARCH, TRACES, "definition")
"""``search``: SC runs in which operations stop, state by state and in turns trace by trace; ``traces``: trace by trace
alone; ``definition``: every state of X."""
TURNS = (
    *((SEARCH, 2_000), (TRACES, 10_000)),
    *((SEARCH, 10_000), (TRACES, 100_000)),
    *((SEARCH, 100_000), (TRACES, 1_000_000)),
    *((SEARCH, None), (TRACES, None)),
)
"""Who searches next, and up to which effort; None: to its end or the limit of states. That of the traces is for each
rank. Budgets count states and events, never time: the answer depends on nothing else. The states come first, as runs
to races found there are short."""

SEARCHING, REPLAYING = "in the search for races", "while replaying the runs to races"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Where to look for races: a program on its nodes, the session in which robustness can be asked about it, and the
    answer to that, if it was asked already. ``nothing``: the verdict before anything is known."""

    placed: Placed
    asking: Session
    robustness: Verdict | None
    nothing: RaceVerdict


def races(session: Session, robustness: Verdict | None = None) -> RaceVerdict:
    """Decide whether the program of ``session`` has a race, as its question asks for.

    ``robustness``: the answer to that question, where it was asked already; else it is asked when the answer depends on
    it. The verdict is `error` for a program that has no process for some rank and for one with a fault that the search
    comes to, `unknown` where a limit is hit. Raises :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C, and
    ValueError for an engine that does not exist.
    """
    asked, reading = session.question.asked, session.question.reading
    assert isinstance(asked, Races)
    if asked.engine not in RACE_ENGINES:
        raise ValueError(f"no engine {asked.engine!r} for races; there is {', '.join(RACE_ENGINES)}")
    read_so = reading

    def nothing() -> RaceVerdict:
        """The verdict before anything is known."""
        question = session.question
        file, name, nodes = question.file, question.name, question.nodes
        return RaceVerdict(file, name, nodes, asked.engine, "unknown", strict=asked.strict, reading=read_so)

    def prepared() -> Prepared:
        nonlocal read_so
        loaded, known = session.load(), robustness
        whole = session.instance(loaded)
        if updates_may_race(whole, asked.strict):
            read_so = Reading(reading.failed_polls, "all")
            known = known if known is not None and known.reading == read_so else None
            whole = session.instance(loaded, read_so)
        placed = session.place(whole, few=asked.engine == SEARCH, one_place=True)
        # Whatever engine is chosen elsewhere, races depend on robustness as the default one finds it.
        about = Robustness(effect=False)
        question = replace(session.question, asked=about, reading=read_so, engine=EngineChoice())
        return Prepared(placed, session.asking(question), known, nothing())

    with session.interruptible(lambda reason: replace(nothing(), reason=reason)):
        found = session.attempt(PREPARING, prepared)
    return found.applied(nothing()) if isinstance(found, Failed) else _Deciding(found, asked.every).run()


class _Deciding:
    """One search for races: its phases one after the other, and the verdict by what is known whenever they end."""

    def __init__(self, prepared: Prepared, every: bool) -> None:
        self.session, self.watch = prepared.asking, prepared.asking.watch
        self.instance, self.all = prepared.placed.shown, every
        alike, note = prepared.placed.alike, self.instance.program.count_note
        self.nothing = replace(prepared.nothing, alike=alike, count_note=note)
        self.pairs = Pairs(self.instance, self.nothing.strict)
        self.robustness = prepared.robustness
        self.searches: list[RaceSearch] = []
        self.found: dict[Places, FoundRace] = {}
        self.complete = False
        self.gave_up: Reason | None = None

    def run(self) -> RaceVerdict:
        """Search, and give the verdict; a limit that ends the search leaves the races that were found."""
        with self.session.interruptible(self._verdict):
            ended = self.session.ended((SEARCHING, self._search))
        return self._verdict(ended)

    def _search(self) -> None:
        """Search by the engine, and by the definition where that is not enough."""
        strict = self.nothing.strict
        if self.nothing.engine != "definition":
            not_known: LimitReached | None = None
            whole = False
            for search in self._searched(strict):
                if not search.races and not search.needs_robust:
                    # Nothing can go before a step that is pending, so there are no other runs.
                    self.complete = True
                    return
                whole = True
                if self.instance.program.gaps:
                    continue  # There are runs that no search can follow.
                try:
                    if self._is_robust():
                        self.complete = True
                        return
                except LimitReached as limit:
                    if not isinstance(limit.reason, StateLimit):
                        raise
                    not_known = limit
            if not whole or self.instance.program.gaps or self._has_enough:
                return
            if not_known is not None:
                raise not_known
        # What comes after a violation has not been looked at, or, state by state, not all of it.
        from pgasrob.races.race_definition import DefinitionSearch

        definition = DefinitionSearch(self.instance, strict)
        if self.nothing.engine == "definition":
            definition.fault = self._fault()
        if definition.fault is not None:
            self.searches.append(definition)
            return
        self.complete = self._follow(definition)

    def _fault(self) -> FoundFault | None:
        """The first fault of an SC run, which the definition does not look for."""
        facts = SequentialFacts(self.instance)
        for _ in facts.explore():
            self.watch.look_around("SC runs", facts.states)
        return facts.fault

    @property
    def _has_enough(self) -> bool:
        """Whether a fault was found, or a race where just one is wanted."""
        return any(search.fault is not None or (search.races and not self.all) for search in self.searches)

    def _searched(self, strict: bool) -> Iterator[RaceSearch]:
        """The searches that have ended without leaving anything out; ends when one has found enough, or none goes on.

        Of a robust program the search state by state and the one trace by trace see the same races; of another one the
        search state by state sees more.
        """
        turns = TURNS if self.nothing.engine == SEARCH else TURNS[-1:]
        searches: dict[str, RaceSearch] = {}
        running: dict[str, Iterator[None]] = {}
        too_many: LimitReached | None = None
        for name, effort in turns:
            if name not in searches:
                search = self._made(name, strict)
                searches[name], running[name] = search, search.run()
                self.searches.append(search)
            if name not in running:
                continue
            search = searches[name]
            if effort is not None and name == TRACES:
                effort *= self.instance.nodes
            try:
                if not self._advance(search, running[name], effort):
                    continue
            except LimitReached as limit:
                if not isinstance(limit.reason, StateLimit):
                    raise
                too_many = too_many or limit
            else:
                if self._has_enough:
                    return
                self.gave_up = search.gave_up
                if search.gave_up is None:
                    yield search
                    if name == SEARCH:
                        return
            del running[name]
        if too_many is not None:
            raise too_many

    def _made(self, name: str, strict: bool) -> RaceSearch:
        if name == SEARCH:
            return race_search(self.instance, strict, self.all, self.watch.limits.memory, self.session.question.threads)
        return race_trace_search(self.instance, strict, self.all, self.watch.limits.memory)

    def _advance(self, search: RaceSearch, running: Iterator[None], effort: int | None) -> bool:
        """Let ``search`` run until it has taken ``effort`` in all, or has found enough; whether it has ended."""
        while effort is None or getattr(search, "effort", search.states) < effort:
            if next(running, self) is self or (search.races and not self.all):
                return True
            self.watch.look_around("races", search.states, search.doing)
        return False

    def _follow(self, search: RaceSearch) -> bool:
        """Run the last ``search``, until the first race unless all are wanted; whether it has seen all there is."""
        known = any(other.races for other in self.searches)
        self.searches.append(search)
        for _ in search.run():
            if search.races and not self.all:
                return False
            most = self.watch.limits.max_sc_states
            if known and most is not None and search.states > most:
                raise LimitReached(ScStateLimit(most))  # the verdict stands
            self.watch.look_around("races", search.states, search.doing)
        self.gave_up = search.gave_up
        return search.gave_up is None and (self.all or not search.races)

    def _is_robust(self) -> bool:
        """Whether the program is robust, which is checked here unless it is known. A limit that ends the check ends the
        search, too."""
        if self.robustness is None:
            try:
                self.robustness = check(self.session)
            except Interrupted as interrupted:
                self.robustness = interrupted.verdict
                raise
        assert self.robustness is not None
        reason = self.robustness.reason
        if self.robustness.verdict == "unknown" and reason is not None and reason.option is not None:
            raise LimitReached(reason)
        return self.robustness.verdict == "robust"

    def _verdict(self, ended: Reason | None) -> RaceVerdict:
        """The verdict by what is known; ``ended``: what has ended the search early."""
        for search in self.searches:
            for where, race in search.races.items():
                self.found.setdefault(where, race)
        shown: list[Race] = []
        wrong: list[InternalError] = []
        unshown = self.session.ended((REPLAYING, lambda: self._replay(shown, wrong)), grace=GRACE)
        program = self.instance.program
        stats = Stats(
            sum(search.states for search in self.searches),
            sum(search.transitions for search in self.searches),
            time.monotonic() - self.watch.started,
        )
        verdict = replace(self.nothing, races=tuple(shown), stats=stats, robustness=self.robustness)
        gaps = RunsLeftOut(program.gaps) if program.gaps else None
        given_up = ended or self.gave_up or unshown
        fault = next((search.fault for search in self.searches if search.fault), None)
        if fault is not None:
            witness = fault_witness(self.instance, fault)
            return replace(verdict, verdict="error", reason=fault_reached(witness), fault=witness)
        if shown:
            missing = given_up or gaps
            left = LeftUndone("there may be more races", missing) if missing and self.all else None
            rests = rests_on(self.instance, "portfolio", robust=False)
            return replace(verdict, verdict="race", reason=left, assumptions=rests)
        if self.complete and not wrong and gaps is None:
            rests = rests_on(self.instance, "portfolio", robust=True)
            return replace(verdict, verdict="no race", assumptions=rests)
        return replace(verdict, reason=next(iter(wrong), None) or given_up or gaps)

    def _replay(self, shown: list[Race], wrong: list[InternalError]) -> None:
        """Replay what was found: one race for each pair of lines, or just the first; what does not replay is wrong."""
        of_lines: dict[tuple[int, int], FoundRace] = {}
        for (first, second), found in self.found.items():
            of_lines.setdefault((first.line, second.line), found)
        for found in of_lines.values():
            try:
                run = replay(self.instance, found.run)
                one, other = map(self.pairs.racing, found.accesses, found.operations)
                shown.append(Race(self.pairs.kind(*found.accesses), (one, other), run))
            except ReplayError as error:
                wrong.append(InternalError("races", f"does not replay: {error}"))
            if not self.all:
                return
