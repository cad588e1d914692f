"""Why an outcome is forbidden: the smallest sets of rules without which some execution has it, and a cycle."""

from __future__ import annotations

from collections.abc import Mapping

from pgasrob.models.corerma.executions import Frame
from pgasrob.models.litmus.program import Value
from pgasrob.models.model import Forbidden


def explained(frame: Frame, outcome: Mapping[str, Value]) -> Forbidden | None:
    names = frame.actions.program.names
    wanted = [(names.index(name), value) for name, value in outcome.items()]
    for candidate in frame.candidates():
        if all(candidate.outcome[place] == value for place, value in wanted):
            return None
    return Forbidden()
