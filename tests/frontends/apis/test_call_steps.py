"""Steps: what a call gives, stores and remembers."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.call_steps import Given, Steps, as_value, ends_all
from pgasrob.frontends.apis.interface import Outcome
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import UNDEFINED, Known, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Store
from pgasrob.program.expressions import Const, Register
from tests.frontends.apis.recorder import RecordedCall, lines, variable

REGISTER = Register("x", 0)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (3, Known(3)),
        (True, Known(1)),
        (Const(4), Known(4)),
        (REGISTER, Unknown(REGISTER)),
        (Known(5), Known(5)),
        (UNDEFINED, UNDEFINED),
        (variable("x"), variable("x")),
    ],
)
def test_what_a_call_gives_is_a_value_of_c(given: Given, value: Value) -> None:
    assert as_value(given) == value
    assert not isinstance(value, Known) or type(value.value) is int


def test_commands_come_before_stores_and_the_result() -> None:
    steps = Steps(RecordedCall("f", (variable("to"), None)))  # type: ignore[arg-type]
    steps.answer(0, 7, INT)
    steps.answer(1, 8, INT)  # a null pointer asks for nothing
    steps.do(Store(Const(1), Const(2)))
    assert lines(steps.outcome(9)) == ["mem[1] <- 2", "*('to',)+0 = 7", "return 9"]
    assert steps.outcome().result == UNDEFINED


def test_a_part_of_a_call_sees_what_earlier_parts_have_noted() -> None:
    steps = Steps(RecordedCall("f", (), state={"old": 1, "count": 2}))  # type: ignore[arg-type]
    assert (steps.recall("old"), steps.recall("new", 5)) == (1, 5)
    steps.note("old", 3)
    assert steps.recall("old") == 3
    assert [steps.count("count", 4), steps.count("count", 4), steps.count("count", 4)] == [2, 3, 0]
    assert [steps.count("fresh"), steps.count("fresh")] == [0, 1]
    assert steps.outcome().state == {"old": 3, "count": 1, "fresh": 2}


def test_a_look_has_the_commands_before_it() -> None:
    steps, yes = Steps(RecordedCall("f", ())), Outcome(result=Known(1))  # type: ignore[arg-type]
    steps.do(Store(Const(1), Const(2)))
    assert lines(steps.look(REGISTER, yes)) == ["mem[1] <- 2", "if x: return 1", "else: again"]


def test_a_call_that_ends_all_ranks_rests_on_an_assumption() -> None:
    call = RecordedCall("f", ())
    assert lines(ends_all(call)) == ["exit", "end"]  # type: ignore[arg-type]
    assert call.assumed == [(Kind.ENDS_ALL_RANKS, ("f",))]
