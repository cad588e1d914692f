"""Whether one program on one node count is robust: the engine, the SC runs, the run to show, the verdict.

    Placed ── engine and SC runs ──> Decided ── replayed and shortened ──> Judged ──> Verdict

Each stage notes what it finds as it goes, so that a limit or Ctrl-C leaves a verdict by what is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, TypeVar, assert_never

from pgasrob.program.assumptions import Assumption, together
from pgasrob.program.illegal_calls import Claim, IllegalCall, OpenAssertion
from pgasrob.program.instance import Instance
from pgasrob.robustness.always_stuck import every_run_is_stuck
from pgasrob.robustness.counterexample import Counterexample, fault_reached, fault_witness
from pgasrob.robustness.engine import PASSING, SEARCHING, Violation, wanted_reductions
from pgasrob.robustness.engines import BY_VALUE, DEFAULT_ENGINE, ENGINES, attack_engine
from pgasrob.robustness.free_ways import Doubt, doubt, has_free_ways, without_free_ways
from pgasrob.robustness.limits import DEFAULT_SC_STATES, USUAL_PROCESSES
from pgasrob.robustness.question import Question
from pgasrob.robustness.reasons import (
    FaultPossible,
    InternalError,
    LeftUndone,
    NothingChecked,
    Reason,
    RunsLeftOut,
    ScRunsLeft,
    ScStateLimit,
    StateLimit,
    ValueForgotten,
    WaitsByValue,
)
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.sc_facts import ScFacts
from pgasrob.robustness.session import PREPARING, Failed, Placed, Session
from pgasrob.robustness.verdict import (
    BY_A_PROOF,
    Answer,
    Assertions,
    Effect,
    FoundIllegalCall,
    Hardware,
    Legal,
    Stats,
    Verdict,
    Witness,
)
from pgasrob.robustness.watch import GRACE, LimitReached
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import is_violating
from pgasrob.semantics.replay import ReplayError, replay

if TYPE_CHECKING:
    from pgasrob.robustness.effect_search import EffectSearch
    from pgasrob.robustness.every_n.proof import Proof

SC_RUNS, EFFECT = "SC runs", "outcomes"
SHORTEST_FIRST, SHORTEST_FIRST_IN_PYTHON = 20_000, 1_000
"""States of a search for the shortest run that shows a violation: an instant."""
T = TypeVar("T")

A_FEW = 1_000
"""States of SC runs that are looked at before it is asked whether the text says all of them."""
MUCH, MUCH_PER_COMMAND = 20_000, 5
"""States, and more for each command of a rank, after which it is asked whether there is a proof for every number of
nodes: to look for one takes about as long, and where there are few traces there are not so many."""
MUCH_FOR_FACTS, FEW_RANKS = 500_000, 8
"""Further states of so few ranks where the proof leaves open whether there is a deadlock, say."""
STATES_PER_RANK = 16
"""States for each rank that there are in all but the simplest programs, where not all ranks go one way."""

MOST_FOR_OTHERS = 100_000
"""States of a search for runs without doubts, where those that were found may be none of the program, or as many as
were looked at before."""

REPLAYING, SHORTENING, MEANING = "while replaying the run", "while shortening the run", "in the search for outcomes"
"""What a check is at, for the reasons when a limit ends it."""


def check(session: Session) -> Verdict:
    """Decide whether the program of ``session`` is robust.

    A program that has no process for some rank gives verdict `error`; a limit that is hit gives `unknown`. Raises
    :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C, and ValueError for an engine that does not exist or has
    no such heads or reductions.
    """
    engine = session.question.engine.name
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")

    def prepared() -> Check:
        placed = session.place(session.instance(session.load()), few=engine == DEFAULT_ENGINE)
        return session.watch.within(SEARCHING.format(engine), lambda: Check(session, placed))

    with session.interruptible(lambda reason: replace(nothing_known(session.question), reason=reason)):
        begun = session.attempt(PREPARING, prepared)
    return begun.applied(nothing_known(session.question)) if isinstance(begun, Failed) else begun.run()


def nothing_known(question: Question) -> Verdict:
    """The verdict before anything is known."""
    file, name, nodes, engine = question.file, question.name, question.nodes, question.engine.name
    return Verdict(file, name, nodes, engine, "unknown", reading=question.reading, units=question.units)


class Decision(Enum):
    """What the engine has found."""

    OPEN = "nothing so far, and nothing more when it has ended"
    ROBUST = "that no computation is violating"
    VIOLATION = "a computation that it claims to be violating"


class Decided:
    """What an engine and the search of SC runs have found so far."""

    def __init__(self, session: Session, placed: Placed) -> None:
        self._session, self._name = session, session.question.engine.name
        self._limits, self._look_around = session.watch.limits, session.watch.look_around
        self.instance = placed.shown
        self.engine = ENGINES[self._name](placed.shown, session.question.settings)
        self.facts = ScFacts(placed.shown, self.engine, session.question.settings)
        self.decision = Decision.OPEN
        self.counterexample: Counterexample | None = None
        self._proof: Proof | None = None
        self._by_proof = False

    def look_for_near_faults(self) -> None:
        """Look at the first SC runs, where the engine passes none: a fault near the start ends the check."""
        if not self.facts.passed:
            limits = (DEFAULT_SC_STATES, self._limits.max_sc_states, self._limits.max_states)
            self.explore(min(limit for limit in limits if limit is not None))

    def run_engine(self, most: int | None = None) -> None:
        """Ask the engine whether some computation is violating, unless it knows or a fault has ended the check; it is
        left open after ``most`` states."""
        engine = self.engine
        by_value = self._name in BY_VALUE or self._session.question.settings.reductions is not None
        if self.facts.fault:
            return
        if engine.settled:  # what is left are the facts of the SC runs
            self.decision = Decision.ROBUST
            return
        try:
            if self._rests_on_a_proof():
                return
            for _ in engine.run():
                if self.facts.fault or (most is not None and engine.states > most):
                    return
                self._look_around(self._name, engine.states_at_work, engine.doing)
                if self._rests_on_a_proof():
                    return
        except (LimitReached, MemoryError):
            if engine.settled:  # it was among the SC runs
                self.decision, self._by_proof = Decision.ROBUST, False
            raise
        self._by_proof = engine.gave_up is not None and self._by_proof
        if engine.violation and by_value and not self.is_one(engine.violation):
            raise LimitReached(WaitsByValue(self._name))
        if engine.violation:
            self.decision = Decision.VIOLATION
            self.counterexample = Counterexample(self.instance, self._name, engine.violation)
        elif engine.gave_up is None:
            self.decision = Decision.ROBUST
        elif isinstance(engine.gave_up, StateLimit):
            raise LimitReached(engine.gave_up)

    @property
    def _much(self) -> int:
        """States after which a search is long, so that it is asked whether there is a proof."""
        return MUCH + MUCH_PER_COMMAND * self.instance.commands

    def _rests_on_a_proof(self) -> bool:
        """Whether the search is long, there is a proof, and nothing, or nothing for some time, was left to look for."""
        states = self.engine.states
        if states <= self._much or not self._is_proved():
            return False
        self.decision, self._by_proof = Decision.ROBUST, True
        return self.facts.complete or states > self._much + self._for_facts(MUCH_FOR_FACTS)

    @property
    def proved_from(self) -> int | None:
        """From which number of nodes on it is proved that the program is robust, if the answer rests on that."""
        return self.facts.proof.cutoff if self._by_proof and self.facts.proof is not None else None

    def _for_facts(self, states: int) -> int:
        """Of so many ``states`` those that are looked at for what a proof has left open: fewer where there are many
        ranks, since there are more states then, and each takes longer."""
        return states * FEW_RANKS**2 // max(self.instance.processes, FEW_RANKS) ** 2

    def _is_proved(self) -> bool:
        """Whether there is a proof for every number of nodes from some on that the program is robust, this one among
        them; what else it says is noted."""
        settings = self._session.question.settings
        if self._proof is None and self._name == DEFAULT_ENGINE and settings.reductions is None:
            self._proof = self._session.proof()
            if self._proof.is_about(self.instance.nodes):
                self.facts.proof = self._proof
        return self.facts.proof is not None

    def is_one(self, claimed: Violation) -> bool:
        """Whether what an engine claims is a violation in the reading of the instance; those that read waits by value
        may claim others."""
        if self.instance.reading.waits == "value":
            return True
        try:
            return is_violating(self.instance, claimed.computation)
        except ReplayError:
            return True  # the judge will say so

    def learn_what_is_left(self, ended: Reason | None) -> None:
        """Explore the SC runs that the engine has not seen, by a search of their own.

        It has a limit of its own: that of states where a fault may change the verdict yet, else that of the facts.
        ``ended``: what has ended the phases before, if anything has.
        """
        facts = self.facts
        if facts.fault or facts.complete or facts.nothing_to_learn():
            return
        most, reached = self._left_to_look_at(ended)
        if most is None or most > A_FEW:
            self.explore(A_FEW)
            if facts.fault or facts.complete or facts.settle():
                return
        if self.decision is Decision.ROBUST and (most is None or most > self._much):
            self.explore(self._much)
            if facts.fault or facts.complete:
                return
            if self._is_proved():
                if facts.complete:
                    return
                most, reached = self._left_to_look_at(ended)
        self.explore(most)
        if not facts.fault and not facts.complete:
            raise LimitReached(reached)

    def _left_to_look_at(self, ended: Reason | None) -> tuple[int | None, Reason]:
        """The states of the search for facts, and the reason when there are more."""
        limits, processes = self._limits, self.instance.processes
        decides = ended is None and self.decision is not Decision.VIOLATION and not self.facts.cannot_fault()
        most, of_facts = limits.max_states, None if decides else limits.sc_states(processes)
        if of_facts is not None and self.facts.proof is not None:
            of_facts = self._for_facts(of_facts)
        if of_facts is not None and self.decision is Decision.VIOLATION:
            of_facts = of_facts * USUAL_PROCESSES // max(processes, USUAL_PROCESSES)
            if of_facts < min(STATES_PER_RANK * processes, limits.max_sc_states or 0):
                of_facts = 0  # not all would be seen
        if of_facts is not None and (most is None or of_facts < most):
            return of_facts, ScStateLimit(of_facts)
        return most, StateLimit(most or 0)

    def explore(self, most: int | None) -> None:
        """Look at SC runs, at all of them or until there are more than ``most`` states."""
        for _ in self.facts.explore(most, hurry=self.decision is Decision.VIOLATION):
            self._look_around(SC_RUNS, self.facts.explored)


class Judged:
    """What has become of the violation that the engine claims: ``run`` is it, replayed and shortened, or says that it
    is none; ``unjudged`` and ``unfinished``: what has ended the replay, and the search for a shorter one.

    ``effect``: what it means for outcomes, None if that was not looked for.
    """

    def __init__(self, session: Session, decided: Decided) -> None:
        self._session, self._decided = session, decided
        self.run: Witness | InternalError | None = None
        self.unjudged: Reason | None = None
        self.unfinished: Reason | None = None
        self.effect: Effect | None = None
        self._meaning: EffectSearch | None = None

    def judge(self) -> None:
        """Replay the claimed run, or what has become of it."""
        assert self._decided.counterexample is not None
        self.run = self._decided.counterexample.judged()

    def shorten(self) -> None:
        """Look for a shorter run that shows the violation, until a limit ends it."""
        decided, question, watch = self._decided, self._session.question, self._session.watch
        name, counterexample = question.engine.name, decided.counterexample
        assert counterexample is not None
        if name in ("attack", "portfolio", "traces"):
            if wanted_reductions(question.settings):
                self._look_for_a_shorter_run(counterexample)
            else:
                counterexample.has_fewest_commands()
        states = min(decided.engine.states, watch.limits.max_states or decided.engine.states)
        for _ in counterexample.leave_out():
            watch.look_around(name, states, "leaving out what the violation does not need")

    def _look_for_a_shorter_run(self, counterexample: Counterexample) -> None:
        """Search without reductions for a while: they keep the verdict, but not the shortest run that shows it."""
        decided, question = self._decided, self._session.question
        if decided.instance.processes**2 > SHORTEST_FIRST:
            return  # it would see a command or two of each run
        plain = attack_engine(decided.instance, question.settings._replace(reductions=()))
        most = SHORTEST_FIRST if decided.facts.passed else SHORTEST_FIRST_IN_PYTHON
        for _ in plain.run():
            if plain.states > most:
                return
            self._session.watch.look_around(question.engine.name, plain.states, "for a shorter run")
        if plain.violation and decided.is_one(plain.violation):
            counterexample.has_fewest_commands(plain.violation)

    def look_for_an_effect(self, ended: Reason | None) -> None:
        """Look for an outcome that no SC run has, unless ``ended`` has ended the check."""
        run = self.run
        if self._decided.facts.fault or not isinstance(run, Witness):
            return
        ended = ended or self._session.ended((MEANING, lambda: self._search_for_an_effect(run)))
        if ended is not None:
            if self._meaning is not None:
                self._meaning.ended(ended)
            self.effect = Effect("none found", ended) if self._meaning is None else self._meaning.effect

    def _search_for_an_effect(self, run: Witness) -> None:
        from pgasrob.robustness.effect_search import EffectSearch

        watch = self._session.watch
        traces, engine = self._decided.facts.traces, self._session.question.engine.name
        self._meaning = meaning = EffectSearch(self._decided.instance, engine, run, traces)
        self.effect = meaning.effect
        limits = (watch.limits.max_sc_states, watch.limits.max_states)
        for _ in meaning.run(*(limit for limit in limits if limit is not None)):
            watch.look_around(EFFECT, meaning.states)
        self.run, self.effect = meaning.witness, meaning.effect


@dataclass(slots=True)
class Shown:
    """What is shown beside the violation: what there was time to replay. ``faults_known``: whether ``fault``
    says if there is one; ``doubts``: why runs that show this are left out, which may be none of the program."""

    faults_known: bool = False
    fault: Witness | None = None
    assertion_run: Witness | None = None
    deadlock_run: Witness | None = None
    always_stuck: bool = False
    illegal_calls: tuple[FoundIllegalCall, ...] = ()
    hardware: Hardware | None = None
    doubts: dict[str, Doubt] = field(default_factory=dict)
    cannot_fault: bool = False


class Check:
    """One check: its stages one after the other, and the verdict by what is known whenever they end."""

    def __init__(self, session: Session, placed: Placed) -> None:
        self._session = session
        self.placed = placed
        self.decided = Decided(session, placed)
        self.judged = Judged(session, self.decided)
        self.shown = Shown()
        self.sure: Decided | None = None

    def run(self) -> Verdict:
        """Go through the stages; a limit that ends the search leaves the facts to be looked at."""
        session, decided, judged = self._session, self.decided, self.judged
        searching = SEARCHING.format(session.question.engine.name)
        with session.interruptible(self.verdict):
            ended = session.ended((PASSING, decided.look_for_near_faults), (searching, decided.run_engine))
            if decided.counterexample is not None:
                judged.unjudged = session.ended((REPLAYING, judged.judge))
                judged.unfinished = ended = judged.unjudged or session.ended(
                    (SHORTENING, judged.shorten), (REPLAYING, judged.judge)
                )
            left = session.ended((PASSING, lambda: decided.learn_what_is_left(ended)))
            if self._has_doubts():
                session.ended((PASSING, self._look_for_sure_runs))
            if session.question.effect:
                judged.look_for_an_effect(ended)
        return self.verdict(ended or left or decided.engine.gave_up)

    def _has_doubts(self) -> bool:
        """Whether something was found, and not in a run of which it is known that it is one of the program."""
        facts, violation = self.decided.facts, self.judged.run
        if facts.fault:
            return doubt(self.decided.instance, facts.fault.run, "fault") is not None
        found = [("violation", violation.run.computation)] if isinstance(violation, Witness) else []
        found += [] if facts.deadlock is None else [("deadlock", facts.deadlock)]
        found += [
            (_shown_by(claim), run) for claim, run in facts.failed.items() if not isinstance(claim, OpenAssertion)
        ]
        return any(doubt(self.decided.instance, run, shows) for shows, run in found)

    def _look_for_sure_runs(self) -> None:
        """Look for the same in runs of which that is known: those that go no way that may be none."""
        self.sure = sure = Decided(self._session, replace(self.placed, shown=without_free_ways(self.decided.instance)))
        most = max(MOST_FOR_OTHERS, self.decided.facts.states)
        sure.explore(most)
        violation = self.judged.run
        if isinstance(violation, Witness) and doubt(self.decided.instance, violation.run.computation, "violation"):
            sure.run_engine(most)
            other = None if sure.counterexample is None else sure.counterexample.judged()
            if isinstance(other, Witness):
                self.judged.run = other

    def verdict(self, ended: Reason | None) -> Verdict:
        """The verdict by what is known; ``ended``: what has ended the check early."""
        instance, shown = self.decided.instance, self.shown
        program = instance.program
        unshown = self._session.ended((REPLAYING, lambda: self._show(ended)), grace=GRACE)
        answer, reason, witness = self._answer(ended) if shown.faults_known else ("unknown", unshown, None)
        if unshown is not None and reason is None:
            reason = LeftUndone("not all that is known is shown", unshown)
        if answer == "robust" and program.gaps:
            answer, reason = "unknown", RunsLeftOut(program.gaps)
        reason = reason or next(iter(shown.doubts.values()), None)
        robust, unseen = answer == "robust", isinstance(reason, FaultPossible)
        if robust and program.count_note is not None and program.count_note.nothing:
            answer, reason = "unknown", NothingChecked(program.count_note.why_nothing())
        first = witness or shown.assertion_run or shown.deadlock_run
        verdict = replace(
            nothing_known(self._session.question),
            verdict=answer,
            reason=reason,
            faults=("unknown" if unseen else "none") if robust else None,
            stats=self._stats(),
            witness=first,
            assertion_run=shown.assertion_run,
            deadlock_run=shown.deadlock_run,
            always_stuck=shown.always_stuck,
            illegal_calls=shown.illegal_calls,
            communicates=instance.communicates,
            polls=instance.polls,
            assumptions=self._assumptions(robust) if robust or first is not None else (),
            effect=self.judged.effect if answer == "not robust" else None,
            hardware=shown.hardware if robust else None,
            # One block is for all ranks but some that are named; a C program is made for a number of nodes.
            one_block=robust
            and program.source.shows_commands
            and not program.has_threads
            and any(process.ranks is None for process in program.processes),
            proved_from=self.decided.proved_from,
            alike=self.placed.alike,
            count_note=program.count_note,
            by_display=self._session.tells,
        )
        return self._with_facts(verdict, complete=unshown is None)

    def _assumptions(self, robust: bool) -> tuple[Assumption, ...]:
        found = rests_on(self.decided.instance, self._session.question.engine.name, robust)
        proof = self.decided.facts.proof
        return found if proof is None or not robust else together((*found, *proof.assumptions))

    def _stats(self) -> Stats:
        engine, seconds = self.decided.engine, time.monotonic() - self._session.watch.started
        by = engine.settled_by if self.decided.proved_from is None else BY_A_PROOF
        return Stats(engine.states, engine.transitions, seconds, self.decided.facts.states, by)

    def _with_facts(self, verdict: Verdict, complete: bool) -> Verdict:
        """``verdict`` with what is known of assertions, illegal calls and deadlocks; ``complete``: all that is known is
        shown."""
        facts, instance, shown = self.decided.facts, self.decided.instance, self.shown
        program = instance.program
        known = complete and not program.gaps
        if instance.has_assertions or program.gaps:
            doubtful = [claim.span.line for claim in facts.failed if isinstance(claim, OpenAssertion)]
            sure = known and facts.all_hold and not doubtful and "assertion" not in shown.doubts
            hold: Assertions = "hold" if sure else "unknown"
            verdict = replace(verdict, assertions="violated" if shown.assertion_run else hold)
            if verdict.assertions == "unknown" and verdict.reason is None and doubtful:
                verdict = replace(verdict, reason=ValueForgotten(min(doubtful)))
        if not program.source.shows_commands:
            sure = known and facts.all_legal and "illegal call" not in shown.doubts
            allowed: Legal = "yes" if sure or not (instance.illegal_calls or program.gaps) else "unknown"
            verdict = replace(verdict, legal="no" if shown.illegal_calls else allowed)
        if facts.checks_deadlock or program.gaps or program.blind_awaits:
            none = known and facts.no_deadlock and not program.blind_awaits and "deadlock" not in shown.doubts
            verdict = replace(verdict, deadlock=True if shown.deadlock_run else False if none else "unknown")
        return verdict

    def _show(self, ended: Reason | None) -> None:
        """Replay the runs that show what is known, first the one to a fault, by which all else counts for nothing."""
        decided, judged, shown = self.decided, self.judged, self.shown
        facts = decided.facts
        fault = self._sure("fault", lambda facts: facts.fault, lambda fault: fault.run)
        if fault is not None:
            shown.fault = fault_witness(decided.instance, fault)
        shown.faults_known = True
        if decided.decision is Decision.ROBUST and not shown.fault:
            shown.hardware = hardware_of(decided.instance)
        if decided.counterexample is not None and judged.run is None:
            judged.judge()
        if decided.decision is Decision.ROBUST and ended is not None:
            shown.cannot_fault = facts.cannot_fault()
        shown.assertion_run = self._replayed("assertion", partial(_failing, None))
        calls = [call for call in facts.failed if isinstance(call, IllegalCall)]
        for call in sorted(calls, key=lambda call: (call.span.line, call.span.column, call.rule.code)):
            found = self._replayed("illegal call", partial(_failing, call))
            if found is not None:
                shown.illegal_calls += (FoundIllegalCall(call, found.run.computation[-1].rank, found),)
        # A rank that has come to a gap goes no further here, and others may wait for it.
        if not decided.instance.program.gaps:
            shown.deadlock_run = self._replayed("deadlock", lambda facts: facts.deadlock)
        if shown.deadlock_run is not None and not shown.fault and facts.complete:
            look = partial(self._session.watch.look_around, SC_RUNS)
            shown.always_stuck = every_run_is_stuck(decided.instance, look)

    def _answer(self, ended: Reason | None) -> tuple[Answer, Reason | None, Witness | None]:
        """The answer, why it is none or not the whole one, and the run that shows it."""
        judged, witness = self.judged, self.shown.fault
        if witness is not None:
            return "error", fault_reached(witness), witness
        match self.decided.decision:
            case Decision.VIOLATION:
                if isinstance(judged.run, Witness):
                    why = doubt(self.decided.instance, judged.run.run.computation, "violation")
                    if why is not None:
                        return "unknown", why, None
                    left = judged.unfinished and LeftUndone(
                        "the run may be longer than it has to be", judged.unfinished
                    )
                    return "not robust", left, judged.run
                if isinstance(judged.run, InternalError):
                    return "unknown", judged.run, None
                because = judged.unjudged or ended
                if has_free_ways(self.decided.instance):
                    return "unknown", because, None
                return "not robust", because and LeftUndone("the run that shows it was not replayed", because), None
            case Decision.ROBUST:
                if "fault" in self.shown.doubts:
                    return "robust", FaultPossible(self.shown.doubts["fault"]), None
                if ended is None:
                    return "robust", None, None
                # A command that faults is not issued, so whether one does is another question (`proofs/sc-runs.md`).
                return "robust", ScRunsLeft(ended) if self.shown.cannot_fault else FaultPossible(ended), None
            case Decision.OPEN:
                return "unknown", ended, None
            case _:
                assert_never(self.decided.decision)

    def _replayed(self, shows: str, of: Callable[[ScFacts], Computation | None]) -> Witness | None:
        """The run that ``shows`` what facts have a run ``of``, if it is known to be one of the program."""
        computation = self._sure(shows, of, lambda computation: computation)
        return None if computation is None else Witness(shows, replay(self.decided.instance, computation))

    def _sure(self, shows: str, of: Callable[[ScFacts], T | None], run: Callable[[T], Computation]) -> T | None:
        """What facts have ``of`` the program, the ``run`` to which ``shows`` it, if that is known to be one of it; else
        the doubt is noted."""
        doubts = None
        for decided in filter(None, (self.decided, self.sure)):
            found = of(decided.facts)
            if found is None:
                continue
            why = doubt(self.decided.instance, run(found), shows)
            if why is None:
                return found
            doubts = doubts or why
        if doubts is not None:
            self.shown.doubts[shows] = doubts
        return None


def _failing(claim: Claim, facts: ScFacts) -> Computation | None:
    """A run to where ``claim`` is false."""
    return facts.failed.get(claim)


def _shown_by(claim: Claim) -> str:
    return "illegal call" if isinstance(claim, IllegalCall) else "assertion"


def hardware_of(instance: Instance) -> Hardware | None:
    """By what a robust program may not be so on the hardware; None where ranks do not communicate."""
    from pgasrob.analysis.hardware import occasions

    found = occasions(instance) if instance.communicates else None
    return None if found is None else Hardware(found, not instance.program.source.shows_commands, instance.has_threads)
