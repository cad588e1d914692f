"""Calls the function that decides a question about robustness, by what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from pgasrob.program.assumptions import Kind
from pgasrob.program.program import Program
from pgasrob.robustness.question import (
    AboutRobustness,
    ProgramFile,
    Robustness,
    RobustnessOnEveryCount,
    RobustnessOnTso,
    Synchronisation,
)
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.session import LOWERING, Failed, Session
from pgasrob.robustness.verdict import RaceConsequences, Verdict

LOOKING_FOR_RACES = "while looking for races that change the result"


def about_robustness(session: Session, asked: AboutRobustness) -> Verdict:
    """The answer to what is ``asked`` about the program of ``session``."""
    session = session.asking(replace(session.question, asked=asked))
    match asked:
        case Robustness():
            from pgasrob.robustness.check import check

            return check(session)
        case Synchronisation():
            if not isinstance(asked, RobustnessOnTso | RobustnessOnEveryCount):
                session = session.asking(replace(session.question, asked=Robustness(asked.effect)))
            verdict = _synchronisation(session, asked)
            if verdict.races is None or verdict.races.answer in ("none", "harmless"):
                return verdict
            return _by_display(session, asked, verdict, verdict.races)
        case _:
            assert_never(asked)


def _synchronisation(session: Session, asked: Synchronisation) -> Verdict:
    """Robustness and the facts of SC runs, and what depends on races where that is ``asked``."""
    verdict = _robustness(session, asked)
    program = session.question.program  # which the session has loaded by now
    lines, facts = asked.of(not isinstance(program, ProgramFile) and not program.source.shows_commands)
    verdict = replace(verdict, asked=lines, facts=facts)
    progress = "progress" in (*lines, *facts) and verdict.verdict != "error" and verdict.communicates is not None
    if progress and not isinstance(program, ProgramFile | Program):
        from pgasrob.robustness.strict_waits import with_strict_waits

        before = verdict
        with session.interruptible(lambda reason: replace(before, reason=before.reason or reason)):
            verdict = with_strict_waits(session, program, verdict)
    if "legal" in (*lines, *facts) and verdict.verdict != "error":
        known = verdict
        with session.interruptible(lambda reason: replace(known, reason=known.reason or reason)):
            verdict = _with_shared_windows(session, verdict)
    if "races" not in (*lines, *facts) or verdict.verdict == "error":
        return verdict

    def interrupted(reason: Reason) -> Verdict:
        return replace(verdict, races=RaceConsequences("unknown", reason=reason))

    with session.interruptible(interrupted):
        found = session.attempt(LOOKING_FOR_RACES, lambda: _races(session, verdict))
        races = RaceConsequences("unknown", reason=found.reason) if isinstance(found, Failed) else found
        return replace(verdict, races=races)


def _by_display(session: Session, asked: Synchronisation, verdict: Verdict, races: RaceConsequences) -> Verdict:
    """``verdict``, or that on the program that tells what it shows, where that has no race that matters, and it was not
    found of any of ``races`` that it changes more than what is read."""
    from pgasrob.robustness.telling import NOT_COMPARED, asked_again

    not_compared = races.reason == NOT_COMPARED
    if (races.answer == "unknown" and not not_compared) or not all(each.by_reads for each in races.matters):
        return verdict
    return asked_again(session, verdict, lambda again: _synchronisation(again, asked), _has_no_race, not_compared)


def _has_no_race(verdict: Verdict) -> bool:
    """Whether it is known that no race changes the result of what is robust, or harmless."""
    effect = None if verdict.effect is None else verdict.effect.kind
    harmless = verdict.verdict == "robust" or (verdict.verdict == "not robust" and effect == "none")
    return harmless and verdict.races is not None and verdict.races.answer in ("none", "harmless")


def _robustness(session: Session, asked: Synchronisation) -> Verdict:
    match asked:
        case RobustnessOnTso():
            from pgasrob.models.store_buffers.tso_check import check_on_tso

            return check_on_tso(session)
        case RobustnessOnEveryCount():
            from pgasrob.robustness.every_count_check import check_every_count

            return check_every_count(session)
        case _:
            from pgasrob.robustness.telling import check_by_display

            return check_by_display(session)


def _with_shared_windows(session: Session, verdict: Verdict) -> Verdict:
    """``verdict`` with what is to be said of loads and stores in shared windows of MPI, if the program has some."""
    program = session.question.program
    if isinstance(program, ProgramFile | Program) or verdict.legal is None:
        return verdict  # a limit has ended it before the program was on its nodes
    every = () if verdict.every is None else verdict.every.checked
    counts = [verdict.nodes] if verdict.nodes is not None else [each.nodes for each in every]
    having = session.attempt(LOWERING, lambda: [nodes for nodes in counts if program.rests_on(Kind.WINDOW_SYNC, nodes)])
    if isinstance(having, Failed):
        reason = verdict.reason or having.reason
        return replace(verdict, legal="no" if verdict.legal == "no" else "unknown", reason=reason)
    if not having:
        return verdict
    from pgasrob.races.mpi.shared_windows import with_missing_syncs

    return with_missing_syncs(session, program, having, verdict)


def _races(session: Session, verdict: Verdict) -> RaceConsequences:
    """Which races matter. SC runs know of no store buffers: with these, too, races are those of the program without,
    which is robust where it was asked what the buffers add."""
    from pgasrob.races.consequences import race_consequences

    if verdict.every is not None:
        from pgasrob.races.races_on_counts import races_on_counts

        return races_on_counts(session, verdict)
    if verdict.on_tso is not None:
        verdict = replace(verdict, verdict="robust", reason=None)
    return race_consequences(session, verdict)
