"""Decides whether a program has races: searches, asks for robustness where that matters, replays the runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from pgasrob.races.access_facts import updates_may_race
from pgasrob.races.found import FoundRace, RaceSearch
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.races.racing_pairs import Pairs, Places
from pgasrob.robustness.check import check
from pgasrob.robustness.counterexample import fault_reached, fault_witness
from pgasrob.robustness.engine import knows_traces
from pgasrob.robustness.free_ways import Doubt, doubt
from pgasrob.robustness.question import EngineChoice, Races, Robustness
from pgasrob.robustness.reasons import (
    InternalError,
    LeftUndone,
    NothingChecked,
    Reason,
    RunsLeftOut,
    ScStateLimit,
    StateLimit,
)
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.session import PREPARING, Failed, Interrupted, Placed, Session
from pgasrob.robustness.turns import Part, budgets
from pgasrob.robustness.verdict import Stats, Verdict
from pgasrob.robustness.watch import GRACE, LimitReached
from pgasrob.semantics.race import Race
from pgasrob.semantics.replay import ReplayError, replay
from pgasrob.semantics.sequential import FoundFault, SequentialFacts
from pgasrob.twins import race_search, race_trace_search

SEARCH, TRACES = "search", "traces"
RACE_ENGINES = (SEARCH, TRACES, "definition")
"""``search``: SC runs in which operations stop, state by state and in turns trace by trace; ``traces``: trace by trace
alone; ``definition``: every state of X."""
ORDER = (SEARCH, TRACES)
"""Who takes turns, and who begins: the states, as runs to races found there are short."""
EFFORT_PER_STATE = 8
"""What the traces may take for each rank and each state that the other may look at: as much time, about."""

SEARCHING, REPLAYING = "in the search for races", "while replaying the runs to races"


def races(session: Session, robustness: Verdict | None = None) -> RaceVerdict:
    """Decide whether the program of ``session`` has a race, as its question asks for (:class:`RaceDecision`)."""
    return RaceDecision(session, robustness).verdict()


class RaceDecision:
    """The search for the races of the program of ``session``, as its question asks for.

    ``robustness``: the answer to that question, where it was asked already; else it is asked when the answer depends on
    it. The verdict is `error` for a program that has no process for some rank and for one with a fault that the search
    comes to, `unknown` where a limit is hit. Raises :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C, and
    ValueError for an engine that does not exist.
    """

    def __init__(self, session: Session, robustness: Verdict | None = None) -> None:
        asked = session.question.asked
        assert isinstance(asked, Races)
        if asked.engine not in RACE_ENGINES:
            raise ValueError(f"no engine {asked.engine!r} for races; there is {', '.join(RACE_ENGINES)}")
        self._session, self._robustness, self._asked = session, robustness, asked
        self._reading = session.question.reading
        self._deciding: _Deciding | None = None

    def verdict(self) -> RaceVerdict:
        """The answer; it ends with the first race unless all were asked for."""
        with self._session.interruptible(lambda reason: replace(self._nothing, reason=reason)):
            found = self._session.attempt(PREPARING, self._prepared)
        if isinstance(found, Failed):
            return found.applied(self._nothing)
        self._deciding = found
        return found.run()

    def all_races(self, robustness: Verdict) -> RaceVerdict:
        """The answer with all races of a program whose ``robustness`` is known now: the search goes on where it has
        stopped."""
        deciding = self._deciding
        assert deciding is not None, "there is a first one"
        deciding.all = True
        deciding.robustness = self._as_read(robustness)
        return deciding.run()

    def _prepared(self) -> _Deciding:
        session, asked = self._session, self._asked
        loaded = session.load()
        # Which accesses race is a matter of each command by itself, as it is written.
        whole = session.instance(loaded, self._reading.by_value)
        if updates_may_race(whole, asked.strict):
            self._reading = self._reading._replace(conflicts="all")
            whole = session.instance(loaded, self._reading.by_value)
        placed = session.place(whole, few=asked.engine == SEARCH, one_place=True)
        # Whatever engine is chosen elsewhere, races depend on robustness as the default one finds it.
        about = Robustness(effect=False)
        question = replace(session.question, asked=about, reading=self._reading, engine=EngineChoice())
        known = self._as_read(self._robustness)
        return _Deciding(placed, session.asking(question), known, self._nothing, asked.every)

    def _as_read(self, robustness: Verdict | None) -> Verdict | None:
        """``robustness`` where it is about the program, and the reading, in which races are looked for."""
        if robustness is None or robustness.by_display != self._session.tells:
            return None
        return robustness if robustness.reading == self._reading else None

    @property
    def _nothing(self) -> RaceVerdict:
        """The verdict before anything is known."""
        question, asked = self._session.question, self._asked
        file, name, nodes = question.file, question.name, question.nodes
        return RaceVerdict(file, name, nodes, asked.engine, "unknown", strict=asked.strict, reading=self._reading)


class _Deciding:
    """The search for races of ``placed``: its phases one after the other, and the verdict by what is known whenever
    they end. ``asking``: the session in which robustness can be asked about it; ``nothing``: the verdict before
    anything is known."""

    def __init__(
        self, placed: Placed, asking: Session, robustness: Verdict | None, nothing: RaceVerdict, every: bool
    ) -> None:
        self.session, self.watch = asking, asking.watch
        self.instance, self.all = placed.shown, every
        self.nothing = replace(nothing, alike=placed.alike, count_note=self.instance.program.count_note)
        self.pairs = Pairs(self.instance, self.nothing.strict)
        self.robustness = robustness
        self.searches: list[RaceSearch] = []
        self.parts: dict[str, tuple[RaceSearch, Part]] = {}
        self.over: set[str] = set()
        self.turns = ((budget, name) for budget in budgets() for name in self._taking_turns)
        self.found: dict[Places, FoundRace] = {}
        self.complete = False
        self.gave_up: Reason | None = None

    def run(self) -> RaceVerdict:
        """Search, or go on with it, and give the verdict; a limit that ends the search leaves the races that were
        found."""
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
        too_many: LimitReached | None = None
        for budget, name in self.turns:
            if self.over.issuperset(self._taking_turns):
                break
            if name not in self.parts:
                made = self._made(name, strict)
                self.searches.append(made)
                self.parts[name] = made, Part(made, made.run(), partial(_spent, made, self.instance.processes))
            search, part = self.parts[name]
            try:
                for _ in part.search_until(budget):
                    if self._has_enough:
                        return
                    self.watch.look_around("races", search.states, search.doing)
            except LimitReached as limit:
                if not isinstance(limit.reason, StateLimit):
                    raise
                too_many, part.ended = too_many or limit, True
                self.over.add(name)
            if self._has_enough:
                return
            if part.ended and name not in self.over:
                self.over.add(name)
                self.gave_up = search.gave_up
                if search.gave_up is None:
                    yield search
                    if name == SEARCH:
                        return
        if too_many is not None:
            raise too_many

    @property
    def _taking_turns(self) -> tuple[str, ...]:
        if self.nothing.engine != SEARCH:
            return (TRACES,)
        return ORDER if knows_traces(self.instance) else (SEARCH,)

    def _made(self, name: str, strict: bool) -> RaceSearch:
        memory = self.watch.limits.memory
        if name == SEARCH:
            return race_search(self.instance, strict, memory, self.session.question.threads)
        return race_trace_search(self.instance, strict, memory)

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
        wrong: list[InternalError | Doubt] = []
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
        open = None if fault is None else doubt(self.instance, fault.run, "fault")
        given_up = given_up or open
        if fault is not None and open is None:
            witness = fault_witness(self.instance, fault)
            return replace(verdict, verdict="error", reason=fault_reached(witness), fault=witness)
        if shown or (self.found and unshown is not None and not wrong):
            missing = given_up or gaps
            left = LeftUndone("there may be more races", missing) if missing and self.all else None
            if not shown and unshown is not None:
                left = LeftUndone(f"{self._first} race, and the run to them was not replayed", unshown)
            rests = rests_on(self.instance, "portfolio", robust=False)
            return replace(verdict, verdict="race", reason=left, assumptions=rests)
        if self.complete and not wrong and gaps is None and open is None:
            note = program.count_note
            if note is not None and note.nothing:
                return replace(verdict, reason=NothingChecked(note.why_nothing()))
            rests = rests_on(self.instance, "portfolio", robust=True)
            return replace(verdict, verdict="no race", assumptions=rests)
        return replace(verdict, reason=next(iter(wrong), None) or given_up or gaps)

    @property
    def _first(self) -> str:
        """The lines of the race that was found first."""
        lines = sorted({place.line for place in next(iter(self.found))})
        return f"lines {' and '.join(map(str, lines))}" if len(lines) > 1 else f"two accesses in line {lines[0]}"

    def _replay(self, shown: list[Race], wrong: list[InternalError | Doubt]) -> None:
        """Replay what was found: one race for each pair of lines, or just the first; what does not replay is wrong, and
        so is a run that may be none of the program."""
        of_lines: dict[tuple[int, int], FoundRace] = {}
        for (first, second), found in self.found.items():
            of_lines.setdefault((first.line, second.line), found)
        for found in of_lines.values():
            try:
                run = replay(self.instance, found.run)
                why = doubt(self.instance, run.computation, "race")
                if why is not None:
                    wrong.append(why)
                    continue
                one, other = map(self.pairs.racing, found.accesses, found.operations)
                shown.append(Race(self.pairs.kind(*found.accesses), (one, other), run))
            except ReplayError as error:
                wrong.append(InternalError.of_run("races", f"does not replay: {error}"))
            if not self.all:
                return


def _spent(search: RaceSearch, processes: int) -> float:
    """What ``search`` has cost, in states of a search state by state."""
    effort: int | None = getattr(search, "effort", None)
    return search.states if effort is None else effort / (EFFORT_PER_STATE * processes)
