"""Asks again about a C program of which it is not known whether what it shows depends on a violation, or on a race: the
same program, whose commands tell what it shows (`proofs/polling.md`, section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.polls import may_become_waits
from pgasrob.program.program import Program
from pgasrob.program.statements import Span
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.maximal_runs import SHOWN_LATER
from pgasrob.robustness.question import ProgramFile
from pgasrob.robustness.reasons import RunsLeftOut
from pgasrob.robustness.session import LOWERING, Failed, Session
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import Watch

T = TypeVar("T")

NOT_COMPARED = RunsLeftOut((SHOWN_LATER,))
MOST_STATES, MOST_VALUES = 50_000, 5_000_000
"""States that are looked at of a program that tells what it shows, and values of cells in all of them: it may have many
more states than without, even without an end, where it adds up what its polls read."""


def check_by_display(session: Session) -> Verdict:
    """As :func:`~pgasrob.robustness.check.check`; where that finds a violation, and not what it means, or only that
    commands read what they do in no SC run, the verdict on the program that tells what it shows, where that says more.
    """
    verdict = check(session)
    effect = verdict.effect
    if verdict.verdict != "not robust":
        return verdict
    if effect is None or effect.kind == "none found":
        untold = effect is not None and effect.reason == NOT_COMPARED
        return asked_again(session, verdict, check, lambda found: _is_harmless(found) or _has_outcome(found), untold)
    return asked_again(session, verdict, check, _is_harmless, False) if effect.by_reads else verdict


def _is_harmless(verdict: Verdict) -> bool:
    return verdict.verdict == "robust" or (verdict.effect is not None and verdict.effect.kind == "none")


def _has_outcome(verdict: Verdict) -> bool:
    return verdict.effect is not None and verdict.effect.kind in ("outcome", "assertion")


def asked_again(
    session: Session, answer: T, decide: Callable[[Session], T], is_known: Callable[[T], bool], not_compared: bool
) -> T:
    """What ``decide`` answers of the same program that tells what it shows, where this ``is_known``: ``session`` is
    about that program from then on. Else ``answer``. Unless what is shown was ``not_compared``, it can only be known
    if more reads are waits then."""
    program, nodes = session.question.program, session.question.nodes
    if isinstance(program, Program | ProgramFile) or nodes is None:
        return answer

    def telling() -> Session | None:
        if not not_compared and not _may_wait_more(session):
            return None
        found = program.telling(nodes)
        if found is None:
            return None
        limits = _fewer(session.watch.limits, nodes * sum(len(each.initial) for each in found.program(nodes).memory))
        watch = Watch(limits, session.watch.progress, session.watch.started)
        again = Session(replace(session.question, program=found, limits=limits), watch=watch)
        return again if not_compared or _waits_more(again, session) else None

    with session.interruptible(lambda _: answer):
        again = session.attempt(LOWERING, telling)
        if again is None or isinstance(again, Failed):
            return answer
        found = decide(again)
    if not is_known(found):
        return answer
    session.goes_on_as(again)
    return found


def _waits_more(one: Session, other: Session) -> bool:
    """Whether some read is a wait in the program of ``one`` that is none in that of ``other``."""
    return bool(_waits(_instance(one)) - _waits(_instance(other)))


def _may_wait_more(session: Session) -> bool:
    """Whether more reads may be waits in the program that tells what it shows, which costs as much again to lower: only
    those can that are waits where the program shows nothing."""
    instance = _instance(session)
    if not any(map(may_become_waits, instance.automata)):
        return False
    program = instance.program
    assert isinstance(program, Program)
    silent = replace(program, shown=None, shows_more=False).instantiate(instance.nodes, instance.reading)
    return bool(_waits(silent) - _waits(instance))


def _instance(session: Session) -> Instance:
    return session.instance(session.load())


def _waits(instance: Instance) -> Counter[tuple[int, Span]]:
    return Counter(
        (rank, each.span)
        for rank, automaton in enumerate(instance.automata)
        for each in automaton.transitions
        if isinstance(each.form, core.Immediate) and each.form.until is not None
    )


def _fewer(limits: Limits, cells: int) -> Limits:
    most = min(MOST_STATES, MOST_VALUES // max(cells, 1))
    states, sc = (most if each is None else min(most, each) for each in (limits.max_states, limits.max_sc_states))
    return replace(limits, max_states=states, max_sc_states=sc)
