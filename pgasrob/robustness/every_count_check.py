"""Deciding every number of nodes: a proof from a cutoff on, and ordinary checks below it (`check --nodes all`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from pgasrob.program.assumptions import Assumption, Kind, together
from pgasrob.program.count_note import CountNote
from pgasrob.robustness.check import check, nothing_known
from pgasrob.robustness.every_n.proof import MOST_OPEN, Proof
from pgasrob.robustness.question import Robustness
from pgasrob.robustness.reasons import CountLeft, NothingChecked, NotProved, Reason
from pgasrob.robustness.session import PROVING, Session
from pgasrob.robustness.verdict import BY_A_PROOF, CheckedCount, EveryCount, Legal, Stats, Verdict
from pgasrob.robustness.watch import Watch

MOST_WITHOUT_A_PROOF = 8
"""The last one where there is no proof."""


def check_every_count(session: Session) -> Verdict:
    """Decide whether the program of ``session`` is robust on every number of nodes, from `Proof.least` on.

    The node count of the question has no meaning here. The limits of time and memory are for all counts together, that
    of states for each of them. `robust` is said when there is a proof from some number on, and every smaller one was
    checked and is robust. The verdict for a number on which it is not robust, or in error, is that number's; `unknown`
    says what is in the way. Raises :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C.
    """
    watch, proof, checked = session.watch, Proof(), list[Verdict]()

    def find_proof() -> None:
        nonlocal proof
        proof = session.proof(MOST_OPEN)

    def verdict(ended: Reason | None) -> Verdict:
        unknown = replace(nothing_known(session.question), nodes=None, units=())
        return _verdict(unknown, proof, checked, ended, watch)

    with session.interruptible(verdict):
        ended = session.ended((PROVING, find_proof))
        for count in _counts(proof) if ended is None else ():
            one = replace(session.question, asked=Robustness(session.question.effect), nodes=count)
            found = check(session.asking(one))
            if isinstance(found.reason, NothingChecked):  # which says something where it is so on all numbers of nodes
                found = replace(found, verdict="robust", reason=None)
            checked.append(found)
            if checked[-1].verdict != "robust" or checked[-1].faults == "unknown":
                break
    return verdict(ended)


def _counts(proof: Proof) -> Sequence[int]:
    """The numbers of nodes that are to be checked one by one."""
    if proof.only is not None:
        return proof.only.counts
    return range(proof.least, proof.cutoff if proof.holds and proof.cutoff else MOST_WITHOUT_A_PROOF + 1)


def _verdict(unknown: Verdict, proof: Proof, checked: list[Verdict], ended: Reason | None, watch: Watch) -> Verdict:
    """The verdict on all node counts, from the ``proof`` and the verdicts on single counts."""
    every = EveryCount(
        proof,
        tuple(
            CheckedCount(each.nodes, each.verdict, each.assertions, each.deadlock)
            for each in checked
            if each.nodes is not None
        ),
    )
    robust = [each for each in checked if each.verdict == "robust"]
    last = checked[-1] if checked else unknown
    stats = Stats(
        sum(each.stats.states for each in checked),
        sum(each.stats.transitions for each in checked),
        time.monotonic() - watch.started,
        sum(each.stats.sequential_states for each in checked),
        BY_A_PROOF if proof.holds else "",
    )
    if last.verdict in ("not robust", "error"):
        return replace(last, every=every, stats=replace(last.stats, seconds=stats.seconds))
    reason = ended
    left = last.verdict == "unknown" or last.faults == "unknown"  # `robust` says here that there is no fault
    if left and last.nodes is not None and last.reason is not None and reason is None:
        reason = CountLeft(last.nodes, last.reason)
    if not proof.holds and reason is None:
        reason = NotProved(str(proof.obstacles[0]) if proof.obstacles else "it was not tried to the end")
    below = len(robust) == len(checked) == len(_counts(proof))
    whole = reason is None and proof.holds and below
    verdict = _with_facts(robust[-1] if robust else unknown, robust, proof if whole else None)
    nothing = _nothing(proof, checked) if whole else None
    if nothing is not None:
        whole, reason = False, NothingChecked(nothing.why_nothing())
    return replace(
        verdict,
        nodes=None,
        verdict="robust" if whole else "unknown",
        reason=verdict.reason if whole else reason,
        faults="none" if whole else None,
        count_note=nothing or proof.too_few or (None if proof.only else _leaves(checked)),
        stats=stats,
        every=every,
        hardware=verdict.hardware if whole else None,
        assumptions=_assumptions(proof, checked) if whole else (),
    )


def _leaves(checked: Sequence[Verdict]) -> CountNote | None:
    """That on a number of nodes that was checked every rank leaves, or none communicates."""
    notes = (each.count_note for each in checked)
    found = next((note for note in notes if note is not None and note.why in ("leaves", "silent")), None)
    return found and replace(found, nothing=False)


def _nothing(proof: Proof, checked: Sequence[Verdict]) -> CountNote | None:
    """That on no number of nodes a rank comes to a call by which it communicates; None where one does."""
    notes = [each.count_note for each in checked]
    if not all(note is not None and note.nothing for note in notes):
        return None
    return next(filter(None, notes), proof.nothing) if proof.only or proof.nothing else None


def _assumptions(proof: Proof, checked: Sequence[Verdict]) -> tuple[Assumption, ...]:
    """The assumptions of the proof and of the verdicts on single counts, and which numbers they are about."""
    most = "2^24" if proof.most == 1 << 24 else f"{proof.most:,}, the most that the API has"
    node_range = Assumption(Kind.NODE_RANGE, (f"{proof.least} to {most}",))
    return together((*(each for verdict in checked for each in verdict.assumptions), *proof.assumptions, node_range))


def _legal(checked: Sequence[Verdict], proof: Proof | None) -> Legal | None:
    """Whether all calls are allowed on every number of nodes; None for programs in the core language."""
    found = {each.legal for each in checked}
    if found <= {None}:
        return None
    if "no" in found:
        return "no"
    return "yes" if found == {"yes"} and proof and proof.all_legal else "unknown"


def _with_facts(verdict: Verdict, checked: Sequence[Verdict], proof: Proof | None) -> Verdict:
    """``verdict`` with what is known of the assertions and deadlocks on every number of nodes, from those that were
    ``checked`` and the ``proof`` for the others, if there is one, and whether ranks communicate on one of them."""
    failing = next((each for each in checked if each.assertions == "violated"), None)
    stuck = next((each for each in checked if each.deadlock is True), None)
    forbidden = next((each for each in checked if each.legal == "no"), None)
    asserted = any(each.assertions for each in checked) or bool(proof and proof.assertions)
    waits = any(each.deadlock is not None for each in checked) or bool(proof and proof.deadlock)
    hold = proof and proof.all_hold
    hold = hold and all(each.assertions in ("hold", None) for each in checked)
    free = proof and proof.no_deadlock
    free = free and all(each.deadlock in (False, None) for each in checked)
    failure, deadlock = failing.assertion_run if failing else None, stuck.deadlock_run if stuck else None
    return replace(
        verdict,
        communicates=any(each.communicates is not False for each in checked) if checked else verdict.communicates,
        assertions=("violated" if failing else "hold" if hold else "unknown") if asserted else None,
        deadlock=(bool(stuck) if stuck or free else "unknown") if waits else None,
        assertion_run=failure,
        deadlock_run=deadlock,
        legal=_legal(checked, proof),
        illegal_calls=forbidden.illegal_calls if forbidden else (),
        witness=failure or deadlock,
    )
