"""Decides which races matter: those by whose order SC runs of the program end differently.

Of a robust program the search for races has all of them, each with a run to where both accesses are next. Where the SC
runs after it do not differ, the race may still matter elsewhere: then all SC states are looked at, which are also all
there is to look at of a program that is not known to be robust. `proofs/races.md`, section 9, says what a race that
matters is, and why that suffices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeVar

from pgasrob.program import core
from pgasrob.program.commands import CompareSwap, Fetch, FetchAdd, TestedAdd
from pgasrob.program.control import Transition
from pgasrob.program.expressions import Const, constant, float_value
from pgasrob.program.graphs import reached_by
from pgasrob.program.instance import Instance
from pgasrob.races.access_facts import facts_of, made_up, not_excluding, updates_may_race
from pgasrob.races.end_sets import AllEnds, AnEnd, Difference, difference_after, one_end
from pgasrob.races.no_race_beyond import is_free_of_races
from pgasrob.races.race_check import RaceDecision, races
from pgasrob.races.racing_pairs import Next, Pairs
from pgasrob.robustness.free_ways import Doubt, doubt
from pgasrob.robustness.maximal_runs import SHOWN_LATER, End, Read, Viewer, Word, shows_more, unknown_memory
from pgasrob.robustness.question import Races
from pgasrob.robustness.reasons import AnyValue, ConsequencesLimit, Reason, RunsLeftOut
from pgasrob.robustness.sc_traces import ScTraces
from pgasrob.robustness.session import Failed, Session
from pgasrob.robustness.verdict import ConsequentialRace, RaceConsequences, Stats, Verdict
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.race import Race, RacingAccess
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sc_order import sc_places
from pgasrob.semantics.state_space import Letter, computation_of
from pgasrob.stop_points import stop_point
from pgasrob.twins import search_of_sc_runs

T = TypeVar("T")

MOST_STATES, MOST_STATES_AT_ONE_PLACE = 20_000, 2_000
"""SC states that are looked at: of the whole program, and after one race."""

COUNTED_FROM = 1_000
"""After so many states the others are counted, which the kernel does much faster, before their ends are looked for."""

LONG = 20_000
"""States of a search for a violation or for facts after which it is asked whether there is a proof that nothing races,
before races are looked for among as many."""

COMPARING = "while comparing the ends of SC runs"


def race_consequences(session: Session, robustness: Verdict, decision: RaceDecision | None = None) -> RaceConsequences:
    """Decide which races of the program of ``session`` matter, whose ``robustness`` is known.

    ``decision``: the search that has found a race of it, which goes on. A program with an error has no answer. Raises
    :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C.
    """
    if robustness.verdict == "error":
        return RaceConsequences("unknown", reason=robustness.reason)
    listed: tuple[Race, ...] = ()
    all_listed, left, stats = False, None, Stats()
    if robustness.verdict == "robust":
        long = max(robustness.stats.states, robustness.stats.sequential_states) > LONG
        if long and _is_proved_free(session):
            return RaceConsequences("none")
        if decision is None:
            found = races(session.asking(replace(session.question, asked=Races(every=True))), robustness)
        else:
            found = decision.all_races(robustness)
        if found.verdict == "no race":
            return RaceConsequences("none", stats=found.stats)
        if found.verdict == "error":
            return RaceConsequences("unknown", reason=found.reason)
        if not long and found.verdict == "unknown" and not found.races and _is_proved_free(session):
            return RaceConsequences("none", stats=found.stats)
        listed, left, stats = found.races, found.reason, found.stats
        all_listed = found.verdict == "race" and left is None
    one = False if listed else session.attempt(COMPARING, lambda: has_one_trace(session))
    if isinstance(one, Failed):
        return RaceConsequences("unknown", reason=one.reason, stats=stats)
    if one:
        return RaceConsequences("none", stats=stats)
    instance = listed[0].run.instance if listed else session.caught(lambda: _placed(session))
    if isinstance(instance, Failed):
        return RaceConsequences("unknown", reason=instance.reason, stats=stats)
    deciding = _Consequences(session, instance, listed, all_listed)
    ended = session.ended((COMPARING, deciding.decide))
    return deciding.answer(ended or left, stats)


def _is_proved_free(session: Session) -> bool:
    """Whether a proof for every number of nodes is known to exclude races; no limit that ends it counts."""
    found = session.attempt(COMPARING, lambda: is_free_of_races(session))
    return not isinstance(found, Failed) and found


def _placed(session: Session) -> Instance:
    reading = session.question.reading.by_value
    whole = session.instance(session.load(), reading)
    if updates_may_race(whole, strict=False):
        whole = session.instance(session.load(), reading._replace(conflicts="all"))
    return session.place(whole, few=True, one_place=True).shown


def has_one_trace(session: Session, small: int | None = None) -> bool:
    """Whether it is known that SC runs differ in the order of what is independent alone: no two accesses that race are
    ever both next (`proofs/races.md`, section 9). ``small``: as of `ScTraces`."""
    loaded, reading = session.load(), session.question.reading
    whole = session.instance(loaded, reading)
    if any(isinstance(edge.command, FetchAdd | TestedAdd | CompareSwap) for edge in _edges(whole)):
        reading = reading.by_value  # else a wait and what it waits for do not race
        whole = session.instance(loaded, reading)
    if updates_may_race(whole, strict=False):
        whole = session.instance(loaded, reading._replace(conflicts="all"))
    own = made_up(whole.program)  # no access to it counts as one that races
    if whole.has_threads or whole.program.gaps or any(_waits_and_races(edge, own) for edge in _edges(whole)):
        return False
    instance = session.place(whole, few=True, one_place=True).shown
    traces = ScTraces(instance, session.question.settings.memory, small)
    for _ in traces.explore():
        session.watch.look_around("races", traces.states, COMPARING)
    return traces.one_alone


def _edges(instance: Instance) -> Iterator[Transition]:
    return (edge for automaton in instance.automata for edge in automaton.transitions)


class _Consequences:
    """The races ``listed`` of an instance, which of them matter, and what has been seen so far."""

    def __init__(self, session: Session, instance: Instance, listed: Iterable[Race], all_listed: bool) -> None:
        self._session, self._instance = session, instance
        self._viewer, self._pairs = Viewer(instance, looked_at=True), Pairs(instance, on_purpose=False)
        self._open = {race.lines: race for race in listed if self._counts(race)}
        # Of each pair of lines one race is listed. One on purpose may stand there for another one.
        hidden = any(self._may_hide(race.lines) for race in listed if not self._counts(race))
        self._all_listed, self._states = all_listed and not hidden, 0
        self._matters: dict[tuple[int, int], ConsequentialRace] = {}
        self._harmless: dict[tuple[int, int], Race] = {}
        self._known = False
        self._doubt: Doubt | None = None

    def decide(self) -> None:
        """Look at what comes after each race that is listed, and where that does not decide, at all SC states."""
        for lines, race in [*self._open.items()]:
            difference = self._after(race)
            if difference is not None:
                self._note(difference)
                self._open.pop(lines, None)  # its places may be others of these lines
        by_ends = not any(not_excluding(*race.accesses) for race in self._open.values())
        if self._all_listed and by_ends and (not self._open or self._watched(one_end(self._viewer, MOST_STATES))):
            self._close()
        elif not self._instance.program.gaps:
            self._look_at_all()

    def _look_at_all(self) -> None:
        everything = AllEnds(self._viewer, self._pairs, MOST_STATES)
        counted = False
        for _ in everything.explore():
            self._states = everything.states
            self._look_around(self._states)
            if self._states > COUNTED_FROM and not counted:
                counted = True
                if self._are_too_many():
                    return self._close() if not self._open and has_one_trace(self._session, 0) else None
        self._states = everything.states
        if not everything.complete:
            return None
        for difference in everything.differences():
            self._look_around(everything.states)
            if difference is not None:
                self._note(difference)
        for accesses, before in everything.races():
            race = self._race(accesses, before)
            self._open.setdefault(race.lines, race)
        return self._close()

    def _are_too_many(self) -> bool:
        """Whether there are more SC states than are looked at: those of `AllEnds` have the ways there besides."""
        facts = search_of_sc_runs(self._instance, (), self._session.question.settings.memory)
        for _ in facts.explore(MOST_STATES):
            self._look_around(facts.states)
        return facts.states > MOST_STATES

    def _close(self) -> None:
        """All is known: what does not matter is harmless."""
        self._known = True
        self._harmless = {lines: race for lines, race in self._open.items() if lines not in self._matters}

    def _watched(self, search: Generator[None, None, T]) -> T:
        """What ``search`` gives, held to the limits."""
        while True:
            stop_point()
            try:
                next(search)
            except StopIteration as end:
                found: T = end.value
                return found
            self._look_around(0)

    def _look_around(self, states: int) -> None:
        self._session.watch.look_around("races", states, "comparing the ends of SC runs")

    def answer(self, ended: Reason | None, stats: Stats) -> RaceConsequences:
        """What is known; ``ended``: what has ended the search early, or has left races out of the list."""
        gaps = self._instance.program.gaps
        if self._known and self._harmless and shows_more(self._instance):
            self._known, self._harmless, gaps = False, {}, (SHOWN_LATER,)
        elif self._known and self._harmless and (names := unknown_memory(self._instance)):
            self._known, self._harmless, ended = False, {}, AnyValue(names)
        if self._doubt is not None:
            self._known, self._harmless, ended = False, {}, self._doubt
        reason = None if self._known else ended or (RunsLeftOut(gaps) if gaps else ConsequencesLimit(MOST_STATES))
        stats = replace(stats, states=stats.states + self._states)
        matters = tuple(self._matters.values())
        answer: Literal["none", "harmless", "matters", "unknown"] = (
            "matters" if matters else "unknown" if reason else "harmless" if self._harmless else "none"
        )
        return RaceConsequences(answer, matters, tuple(self._harmless.values()), reason, stats)

    def _counts(self, race: Race) -> bool:
        """Whether ``race`` is more than a call that looks whether a value has come, and that value."""
        one, other = race.accesses
        return not any(
            self._looks(first) and "write" in second.access and self._arrives(second)
            for first, second in ((one, other), (other, one))
        )

    def _may_hide(self, lines: tuple[int, int]) -> bool:
        """Whether commands in these ``lines`` have accesses that may race, and none of which looks for the other."""
        first, second = ([*self._accesses_in(line)] for line in lines)
        return any(
            (one.writes or other.writes) and not (one_looks or other_looks)
            for one, one_looks in first
            for other, other_looks in second
        )

    def _accesses_in(self, line: int) -> Iterator[tuple[core.Access[Any], bool]]:
        """The accesses of the commands in a ``line``, and whether each looks what is in its rank's own memory."""
        for rank, automaton in enumerate(self._instance.automata):
            for transition in automaton.transitions:
                if transition.span.line == line:
                    own = not isinstance(transition.command, Fetch) or transition.command.rank == Const(
                        self._instance.home[rank]
                    )
                    for access, fact in zip(core.accesses_of(transition.form), facts_of(transition), strict=True):
                        yield access, fact.waits or (fact.looks and own)

    def _looks(self, access: RacingAccess) -> bool:
        transition = next(_with_occurrence(self._instance, access.rank, access.occurrence))
        own = self._instance.owner(access.cell) == self._instance.home[access.rank]
        return own and any(fact.looks for fact in facts_of(transition))

    def _arrives(self, access: RacingAccess) -> bool:
        """As `Pairs` has it: by another rank, by an operation, or atomic."""
        remote = self._instance.owner(access.cell) != self._instance.home[access.rank]
        return remote or access.operation is not None or bool(access.atomic)

    # One race

    def _after(self, race: Race) -> Difference | None:
        """How SC runs differ by the order of the accesses of ``race``, after a run to where both commands are next."""
        one, other = race.accesses
        before = sc_words_before(race)
        if before is None:
            return None
        commands = (one.rank, one.occurrence), (other.rank, other.occurrence)
        return self._watched(difference_after(self._viewer, self._pairs, before, commands, MOST_STATES_AT_ONE_PLACE))

    def _note(self, difference: Difference) -> None:
        race = self._race(difference.accesses, difference.before)
        one, other = (replay(self._instance, computation_of(words)) for words in (difference.one, difference.other))
        why = doubt(self._instance, one.computation, "race") or doubt(self._instance, other.computation, "race")
        if why is not None:
            self._doubt = self._doubt or why
            return
        lost = not_excluding(*race.accesses)
        differ = (*((lost,) if lost else ()), *differences(self._instance, *difference.ends))
        by_reads = not lost and differ_by_reads(*difference.ends)
        matters = ConsequentialRace(race, differ, (one, other), by_reads)
        self._matters.setdefault(race.lines, matters)
        self._open.pop(race.lines, None)

    def _race(self, accesses: tuple[Next, Next], before: list[Word]) -> Race:
        one, other = (self._pairs.racing(each, None) for each in accesses)
        return Race(self._pairs.kind(*accesses), (one, other), replay(self._instance, computation_of(before)))


def sc_words_before(race: Race) -> list[Word] | None:
    """An SC run after which the commands of both accesses of ``race`` are next: its run without those commands and
    without all that comes after them. None where that is no SC run, as of a program that is not robust."""
    computation = race.run.computation
    relation = HappensBefore(computation)
    numbers = {
        (event.rank, event.operation): number for event, number in zip(computation, relation.commands, strict=True)
    }
    waiting = [numbers[each.rank, each.operation] for each in race.accesses if each.operation is not None]
    edges = {(relation.commands[edge.source], relation.commands[edge.target]) for edge in relation.edges}
    gone = reached_by(edges, waiting)
    left = tuple(event for event, command in zip(computation, relation.commands, strict=True) if command not in gone)
    places = sc_places(HappensBefore(left))
    return None if places is None else sc_words(tuple(left[place] for place in places))


def sc_words(computation: Computation) -> list[Word]:
    """The words of the SC run ``computation``, one for each command."""
    commands = HappensBefore(computation).commands
    words: dict[int, list[Letter]] = {}
    for event, command in zip(computation, commands, strict=True):
        letters = words.setdefault(command, [])
        which = 0 if event.is_step else event.occurrence
        letters.append(Letter(event.kind, event.rank, event.cell, which, False, event.commutes, event.home))
    for letters in words.values():
        if len(letters) > 1 and letters[0].kind != "barrier":
            letters[-1] = letters[-1]._replace(last=True)
    return [tuple(letters) for letters in words.values()]


# What is different


def differences(instance: Instance, one: AnEnd, other: AnEnd) -> Iterator[str]:
    """What is different at two ends of runs, each as a piece of a sentence."""
    if not (isinstance(one, End) and isinstance(other, End)):
        both = not (isinstance(one, End) or isinstance(other, End))
        yield "what goes on for ever" if both else "some ranks go on for ever, or the run ends"
        return
    if one.ending != other.ending:
        yield f"{ENDS[one.ending]}, or {ENDS[other.ending]}"
    for failed in sorted({*one.failed} ^ {*other.failed}):
        yield f"the assertion of rank {instance.process_name(failed.rank)} in line {failed.line} fails or holds"
    values, others = dict(one.values), dict(other.values)
    changing = one.changing | other.changing
    for place in [*values, *(place for place in others if place not in values)]:
        if place not in changing and values.get(place) != others.get(place):
            yield f"{_named(instance, place)} is " + " or ".join(
                _shown(instance, place, each.get(place)) for each in (values, others)
            )


def differ_by_reads(one: AnEnd, other: AnEnd) -> bool:
    """Whether two ends of runs differ in nothing but what commands have read last."""
    if not (isinstance(one, End) and isinstance(other, End)):
        return False
    differing = {of for of, _ in {*one.values} ^ {*other.values}} - one.changing - other.changing
    return (one.ending, one.failed) == (other.ending, other.failed) and not any(isinstance(of, str) for of in differing)


ENDS = {
    "ended": "the run ends",
    "exited": "the program exits",
    "deadlock": "it ends in a deadlock",
    "stopped": "an assume stops it",
    "fault": "it ends with an error",
}
"""What happens at the ends of runs."""


def _shown(instance: Instance, place: str | Read, value: int | None) -> str:
    """A value, or that nothing was read; the bits of a double as the number."""
    if value is None:
        return "not read"
    name = place if isinstance(place, str) else instance.cell_name(place.cell)
    cell = name.rpartition("@")[0] or name
    is_double = {cell, cell.rpartition("[")[0]} & instance.program.doubles
    return repr(float_value(value)) if is_double else str(value)


def _named(instance: Instance, place: str | Read) -> str:
    """The final value of a cell or register, or what a read has read last."""
    if isinstance(place, str):
        return f"{place} at the end"
    transition = next(_with_occurrence(instance, place.rank, place.occurrence))
    rank = instance.process_name(place.rank)
    return f"what rank {rank} reads of {instance.cell_name(place.cell)} in line {transition.span.line}"


def _waits_and_races(edge: Transition, made_up: frozenset[int]) -> bool:
    """Whether the command waits for a value that it may race with meanwhile: elsewhere than in its rank's own memory,
    unless that is ``made_up``, or to do more than wait."""
    form = edge.form
    if not isinstance(form, core.Immediate) or (form.condition is None and form.until is None):
        return False
    cell = form.access.cell
    own = cell.rank is None and form.update is None and all(fact.waits for fact in facts_of(edge))
    return not own and constant(cell.address) not in made_up


def _with_occurrence(instance: Instance, rank: int, occurrence: int) -> Iterator[Transition]:
    return (each for each in instance.automata[rank].transitions if each.occurrence == occurrence)
