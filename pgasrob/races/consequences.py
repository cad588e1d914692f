"""Whether how SC runs end depends on the order in which racing accesses come."""

from __future__ import annotations

from pgasrob.robustness.reasons import NotAsked
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import RaceConsequences, Verdict


def race_consequences(session: Session, robustness: Verdict) -> RaceConsequences:
    """What depends on the races of the program of ``session``, whose verdict is ``robustness``: not looked at yet."""
    return RaceConsequences("unknown", reason=NotAsked())
