"""Which races matter on every number of nodes (`check --nodes all`), from those of some numbers.

A race that matters on one number of nodes is one of the program. That none matters on any is not proved: it is known
where the program does more than leave on a few numbers alone, and all of these were looked at.
"""

from __future__ import annotations

from dataclasses import replace

from pgasrob.races.consequences import race_consequences
from pgasrob.robustness.reasons import CountLeft, RacesOnCounts
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import RaceConsequences, Verdict
from pgasrob.semantics.race import Race

LAST_COUNT = 4
"""The last number of nodes on which races are looked for, where there are more."""


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
    only = verdict.every.proof.only is not None
    robust = [count.nodes for count in verdict.every.checked if count.verdict == "robust"]
    harmless: dict[tuple[int, int], Race] = {}
    looked_at: list[int] = []
    for nodes in robust if only else [each for each in robust if each <= LAST_COUNT]:
        found = on(nodes)
        if found.answer == "matters":
            return found
        if found.answer == "unknown":
            return replace(found, reason=found.reason and CountLeft(nodes, found.reason), harmless=())
        looked_at.append(nodes)
        harmless |= {race.lines: race for race in found.harmless}
    if only and verdict.verdict == "robust":  # on other numbers of nodes nothing is accessed
        return RaceConsequences("harmless" if harmless else "none", harmless=tuple(harmless.values()))
    return RaceConsequences("unknown", reason=RacesOnCounts(tuple(looked_at)))
