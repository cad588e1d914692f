"""Robustness on processors with store buffers: `pgasrob check --cpu tso`."""

from __future__ import annotations

import time
from dataclasses import replace

from pgasrob.analysis.store_buffers import named, store_buffers
from pgasrob.models.store_buffers.buffered_run import written_down
from pgasrob.models.store_buffers.cycle_search import BufferedSearch
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.robustness.check import check
from pgasrob.robustness.reasons import BuffersByValue, InternalError, Reason, RunsLeftOut
from pgasrob.robustness.session import PREPARING, Failed, Session
from pgasrob.robustness.verdict import OnTso, Verdict
from pgasrob.robustness.watch import Watch

SEARCHING = "while searching runs with store buffers"
PROCESSOR = "x86"


def check_on_tso(session: Session) -> Verdict:
    """Decide whether the program of ``session`` is robust where each rank's processor has a store buffer, as on x86.

    First it is decided without: a run without store buffers is one with store buffers that are never used, so what is
    not robust without is not robust. Then it is asked whether some load may overtake a store
    (`analysis.store_buffers`): if none may, the verdict holds as it is. Else all runs with store buffers are searched;
    a limit that is hit gives `unknown`. That search reads waits by value: what is robust only by condition is `unknown`
    then. Raises :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C.
    """
    watch, verdict = session.watch, check(session)
    if verdict.assumptions:
        with_buffers = Assumption(Kind.PROGRAM_ORDER, (PROCESSOR,))
        assumed = (with_buffers if each.kind is Kind.PROGRAM_ORDER else each for each in verdict.assumptions)
        verdict = replace(verdict, assumptions=tuple(assumed))
    if verdict.verdict != "robust":
        return _with_buffers_left(verdict)
    search = _Search(session.asking(replace(session.question, reading=session.question.reading.by_value)))
    with session.interruptible(lambda reason: _timed(_open(verdict, reason, search.on_tso), watch)):
        decided = session.attempt(SEARCHING, lambda: search.decide(verdict))
    decided = _open(verdict, decided.reason, search.on_tso) if isinstance(decided, Failed) else decided
    return _timed(decided, watch)


def _with_buffers_left(verdict: Verdict) -> Verdict:
    """``verdict``, which is about runs without store buffers; of those with them it is not known how they end."""
    effect = verdict.effect
    if effect is None or effect.kind != "none":
        return verdict
    left = RunsLeftOut(("runs with store buffers may end otherwise",))
    return replace(verdict, effect=replace(effect, kind="none found", reason=left))


def _timed(verdict: Verdict, watch: Watch) -> Verdict:
    """``verdict`` with the seconds of both decisions."""
    return replace(verdict, stats=replace(verdict.stats, seconds=time.monotonic() - watch.started))


class _Search:
    """The search with store buffers; ``on_tso``: what is known so far, None before anything is."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.on_tso: OnTso | None = None

    def decide(self, verdict: Verdict) -> Verdict:
        """``verdict``, which is `robust` in the reading that was asked for, with store buffers."""
        session = self._session
        instance = session.watch.within(PREPARING, lambda: session.instance(session.load()))
        if instance.has_threads:
            left = RunsLeftOut(("those with a store buffer for each thread of a rank",))
            return _open(verdict, left, None)
        known = store_buffers(instance)
        pairs = named(known.pairs, instance)
        self.on_tso = OnTso(pairs)
        if not pairs:
            return replace(verdict, on_tso=self.on_tso)
        if verdict.reading != instance.reading:
            by_value = check(session)
            if by_value.verdict != "robust":
                return _open(verdict, by_value.reason or BuffersByValue(), self.on_tso)
        search = BufferedSearch(instance, known)
        for _ in search.run():
            self.on_tso = OnTso(pairs, search.states)
            session.watch.look_around("store buffers", search.states)
        self.on_tso = on_tso = OnTso(pairs, search.states)
        if search.found is None:
            return _open(verdict, search.gave_up, on_tso) if search.gave_up else replace(verdict, on_tso=on_tso)
        run = written_down(instance, known, search.found)
        if run is None:
            return _open(verdict, InternalError.of_run("store buffers", "has no cycle"), on_tso)
        shows = (each for each in verdict.assumptions if each.kind.shapes_runs or each.kind is Kind.PROGRAM_ORDER)
        return replace(
            verdict,
            verdict="not robust",
            reading=instance.reading,
            reason=None,
            faults=None,
            hardware=None,
            on_tso=replace(on_tso, run=run),
            assumptions=tuple(shows),
        )


def _open(verdict: Verdict, reason: Reason, on_tso: OnTso | None) -> Verdict:
    """Not known with store buffers, for a ``reason``."""
    return replace(verdict, verdict="unknown", reason=reason, faults=None, assumptions=(), hardware=None, on_tso=on_tso)
