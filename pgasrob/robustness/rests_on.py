"""The assumptions that a verdict rests on: those that the front end made, and those behind every verdict."""

from __future__ import annotations

from pgasrob.program.assumptions import Assumption, Kind, conflicts, failed_polls
from pgasrob.program.instance import Instance

EVERY = tuple(kind for kind in Kind if kind.scope == "every")
"""What every verdict rests on."""


def rests_on(instance: Instance, engine: str, robust: bool) -> tuple[Assumption, ...]:
    """The assumptions of a verdict on ``instance``, which is ``robust``, or has a run to show for what it says.

    A robust program is one because of all that no run does, so its verdict rests on every assumption. A run that is
    shown is one of the real program under fewer of them (`Kind.shapes_runs`).
    """
    found = {kind: Assumption(kind) for kind in EVERY}
    reading = instance.reading
    readings = failed_polls(reading.failed_polls), conflicts(reading.conflicts)
    if instance.tests:
        found[Kind.WAITS] = Assumption(Kind.WAITS)
    found |= {each.kind: each for each in (*readings, *instance.program.assumptions)}
    if engine == "spin":
        found[Kind.MODEL_CHECKER] = Assumption(Kind.MODEL_CHECKER)
    return tuple(found[kind] for kind in Kind if kind in found and (robust or kind.shapes_runs))
