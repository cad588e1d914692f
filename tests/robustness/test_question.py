"""Questions: what they have in place of what was not said."""

from __future__ import annotations

import pickle

import pytest

from pgasrob.program.files import Overlay
from pgasrob.program.parser import parse
from pgasrob.robustness import question as module
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import (
    EngineChoice,
    ProgramFile,
    Question,
    Races,
    Resources,
    Robustness,
    RobustnessOnEveryCount,
    RobustnessOnTso,
)

PROGRAM = parse("process { }")


def test_threads_are_those_of_the_machine_and_not_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, threads in ((1, 1), (64, module.MOST_THREADS)):
        monkeypatch.setattr(module, "available_cores", lambda cores=cores: cores)
        assert Question(PROGRAM).threads == threads
    assert Question(PROGRAM, resources=Resources(threads=9)).threads == 9


def test_what_an_engine_is_made_with() -> None:
    choice = EngineChoice("product", 4, ("peers",))
    question = Question(PROGRAM, engine=choice, limits=Limits(memory=7), resources=Resources(threads=1))
    settings = question.settings
    assert (settings.heads, settings.reductions, settings.memory, settings.threads) == (4, ("peers",), 7, 1)


@pytest.mark.parametrize("kind", [Robustness, RobustnessOnTso, RobustnessOnEveryCount])
def test_whether_an_effect_is_asked_for(kind: type[Robustness]) -> None:
    assert Question(PROGRAM, asked=kind()).effect and not Question(PROGRAM, asked=kind(effect=False)).effect
    assert not Question(PROGRAM, asked=Races()).effect


def test_a_question_about_a_file_can_be_sent() -> None:
    question = Question(ProgramFile("p.pgas", files=Overlay({})), 3, Races(strict=True))
    sent = pickle.loads(pickle.dumps(question))
    assert (sent.file, sent.nodes, sent.asked, sent.engine) == ("p.pgas", 3, question.asked, question.engine)
