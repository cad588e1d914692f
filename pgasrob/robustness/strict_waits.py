"""Looks for runs that get stuck where calls wait for other ranks that may do so, and need not.

All else is asked of the program in which a rank waits for no more than it has to, since nothing may rest on more. Of
getting stuck that is the wrong way round: a program must not hang where the root of a broadcast waits for all, or a
send for its receive (MPI-4.1, 3.5 and 6.14). Waiting more takes runs away and adds ends at which ranks are stuck. So
one search of the program in which all these calls wait (`CProgram.strict`) finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgasrob.frontends.lower import CProgram
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import wanted_reductions
from pgasrob.robustness.free_ways import doubt, without_free_ways
from pgasrob.robustness.limits import DEFAULT_SC_STATES
from pgasrob.robustness.reasons import Reason, RunsLeftOut, ScStateLimit, WaitingLeft
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.sc_traces import ScTraces
from pgasrob.robustness.session import LOWERING, Failed, Session
from pgasrob.robustness.verdict import Verdict, Witness
from pgasrob.semantics.replay import replay
from pgasrob.twins import search_of_sc_runs

LOOKING = "while looking for runs that get stuck where calls wait for others"
MAY_WAIT = (Kind.BUFFERED_SENDS, Kind.NOT_SYNCHRONISING)
"""What is assumed where a call may wait."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A run that gets stuck in the program whose calls ``wait``, if there is one; ``left``: why that is not known."""

    instance: Instance
    run: Witness | None
    wait: Assumption | None
    left: Reason | None = None


def with_strict_waits(session: Session, program: CProgram, verdict: Verdict) -> Verdict:
    """``verdict`` on ``program`` with what is to be said of runs that get stuck, if it has calls that may wait. Where
    no such run gets stuck no more is assumed than that these wait alike."""
    if verdict.deadlock is True:
        return verdict
    counts = [verdict.nodes] if verdict.nodes is not None else _counts(verdict)
    for nodes in counts:
        found = session.attempt(LOWERING, lambda nodes=nodes: _looked_for(session, program, nodes))  # type: ignore[misc]
        if isinstance(found, Failed):
            return _left(verdict, found.reason)
        if found is None:
            continue
        if found.run is not None:
            return _stuck(verdict, found, session.question.engine.name)
        if found.left is not None:
            return _left(verdict, found.left)
        if verdict.nodes is not None:
            return replace(verdict, assumptions=tuple(_assumed(verdict.assumptions, found.wait)))
    return verdict


def _assumed(before: tuple[Assumption, ...], wait: Assumption | None) -> Iterator[Assumption]:
    """The assumptions where no run gets stuck in which all calls ``wait``."""
    instead = [] if wait is None else [Assumption(Kind.WAITING_ALIKE, wait.about, wait.lines)]
    found = {each.kind: each for each in (*before, *instead) if each.kind is not _ASSUMED}
    return (found[kind] for kind in Kind if kind in found)


_ASSUMED = Kind.NOT_SYNCHRONISING


def _counts(verdict: Verdict) -> list[int]:
    return [] if verdict.every is None else [each.nodes for each in verdict.every.checked]


def _looked_for(session: Session, program: CProgram, nodes: int) -> _Found | None:
    """The search on ``nodes`` nodes; None where no call may wait."""
    if not any(program.rests_on(kind, nodes) for kind in MAY_WAIT):
        return None
    strict = Session(replace(session.question, program=program.strict(nodes), nodes=nodes), watch=session.watch)
    instance = strict.place(strict.instance(strict.load()), few=True).shown
    return session.watch.within(LOOKING, lambda: _searched(session, instance))


def _searched(session: Session, instance: Instance) -> _Found:
    wait = next((each for each in instance.program.assumptions if each.kind is _ASSUMED), None)
    left: Reason | None = None
    for searched in _instances(instance):
        traces = ScTraces(searched, session.question.settings.memory)
        for _ in traces.explore():
            session.watch.look_around("SC runs", traces.states)
        if traces.facts is not None:
            return _Found(instance, None, wait, left)
        facts = search_of_sc_runs(
            searched, wanted_reductions(session.question.settings), session.question.settings.memory
        )
        limits = (DEFAULT_SC_STATES, session.watch.limits.max_states, session.watch.limits.max_sc_states)
        most = min(limit for limit in limits if limit is not None)
        for _ in facts.explore(most):
            session.watch.look_around("SC runs", facts.states)
            if facts.deadlock is not None:
                break
        if facts.deadlock is None:
            return _Found(instance, None, wait, left or (None if facts.complete else ScStateLimit(most)))
        doubts = doubt(instance, facts.deadlock, "deadlock")
        if doubts is None and not instance.program.gaps:
            return _Found(instance, Witness("deadlock", replay(instance, facts.deadlock)), wait)
        left = left or doubts or RunsLeftOut(instance.program.gaps)
    return _Found(instance, None, wait, left)


def _instances(instance: Instance) -> Iterator[Instance]:
    """The instance, and where a run of it may be none of the program, the one without such runs."""
    yield instance
    yield without_free_ways(instance)


def _stuck(verdict: Verdict, found: _Found, engine: str) -> Verdict:
    robust = verdict.verdict == "robust"
    known = verdict.witness or verdict.assertion_run
    return replace(
        verdict,
        deadlock=True,
        deadlock_run=found.run,
        strict_waits=found.wait,
        witness=known or found.run,
        assumptions=verdict.assumptions if robust or known else rests_on(found.instance, engine, robust=False),
    )


def _left(verdict: Verdict, reason: Reason) -> Verdict:
    """It is not known whether a run gets stuck."""
    return replace(verdict, deadlock="unknown", reason=verdict.reason or WaitingLeft(reason))
