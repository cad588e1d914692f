"""Each kind of question is answered by what decides it."""

from __future__ import annotations

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.program.parser import parse
from pgasrob.robustness.question import (
    AboutRobustness,
    Question,
    Races,
    Robustness,
    RobustnessOnEveryCount,
    RobustnessOnTso,
)
from pgasrob.robustness.session import Session

# Robust on a network, and where processors have store buffers not.
BUFFERED = parse("memory x, y; register r; nodes 1; process { mem[x] <- 1; r <- mem[y]; }")


@pytest.mark.parametrize(
    ("asked", "nodes", "on_tso", "every"),
    [
        (Robustness(), 1, False, False),
        (RobustnessOnTso(), 1, True, False),
        (RobustnessOnEveryCount(), None, False, True),
    ],
)
def test_who_is_asked(asked: AboutRobustness, nodes: int | None, on_tso: bool, every: bool) -> None:
    """Whatever the session was made for."""
    verdict = about_robustness(Session(Question(BUFFERED, asked=Races())), asked)
    assert (verdict.verdict, verdict.nodes) == ("robust", nodes)
    assert (verdict.on_tso is not None, verdict.every is not None) == (on_tso, every)
