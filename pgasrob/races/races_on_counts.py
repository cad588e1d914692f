"""Which races matter on every number of nodes (`check --nodes all`), from those of some numbers.

A race that matters on one number of nodes is one of the program. That none matters on any is known where all numbers
were looked at on which the program does more than leave at once, or those below a cutoff, from which on it is proved
that nothing races.
"""

from __future__ import annotations

from dataclasses import replace

from pgasrob.races.consequences import race_consequences
from pgasrob.races.no_race_beyond import no_race_from_proof
from pgasrob.robustness.reasons import CountLeft, RacesOnCounts
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import RaceConsequences, Verdict
from pgasrob.semantics.race import Race

LAST_COUNT = 4
"""The last number of nodes on which races are looked for, where there are more, and no proof for these."""


def races_on_counts(session: Session, verdict: Verdict) -> RaceConsequences:
    """The races that matter on some number of nodes that was checked for ``verdict``, which is about every number; on
    its own where it was found not to be robust there.

    Raises :class:`~pgasrob.robustness.session.Interrupted` on Ctrl-C.
    """

    def on(nodes: int) -> RaceConsequences:
        one = session.asking(replace(session.question, nodes=nodes))
        known = replace(verdict, nodes=nodes, verdict="robust", reason=None) if verdict.nodes is None else verdict
        return race_consequences(one, known)

    assert verdict.every is not None
    if verdict.nodes is not None:
        return on(verdict.nodes)
    proof = verdict.every.proof
    robust = [count.nodes for count in verdict.every.checked if count.verdict == "robust"]
    harmless: dict[tuple[int, int], Race] = {}
    looked_at: list[int] = []
    decided = proof.only is not None  # on other numbers of nodes nothing is accessed
    for nodes in robust:
        if nodes > LAST_COUNT and not decided:
            decided = _none_beyond(session, verdict)
            if not decided:
                break
        found = on(nodes)
        if found.answer == "matters":
            return found
        if found.answer == "unknown":
            return replace(found, reason=found.reason and CountLeft(nodes, found.reason), harmless=())
        looked_at.append(nodes)
        harmless |= {race.lines: race for race in found.harmless}
    if verdict.verdict == "robust" and (decided or _none_beyond(session, verdict)):
        return RaceConsequences("harmless" if harmless else "none", harmless=tuple(harmless.values()))
    return RaceConsequences("unknown", reason=RacesOnCounts.of(looked_at))


def _none_beyond(session: Session, verdict: Verdict) -> bool:
    """Whether there is known to be no race on the numbers of nodes for which ``verdict`` rests on a proof."""
    return verdict.verdict == "robust" and no_race_from_proof(session)
