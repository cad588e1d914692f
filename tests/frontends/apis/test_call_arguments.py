"""Arguments: what calls cannot do without, and what they are refused with."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.call_arguments import MOST, integers, is_owner, limited, member_in, reached, target
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import Const, IntType, Me, Unary
from tests.frontends.apis.recorder import RecordedCall, Refused, World, variable

OTHERS = variable("y", owner=1)


def call(*arguments: object, **options: object) -> RecordedCall:
    return RecordedCall("f", arguments, **options)  # type: ignore[arg-type]


def test_a_pointer_that_may_not_be_null() -> None:
    assert target(call(variable("x")), 0) == variable("x")  # type: ignore[arg-type]
    with pytest.raises(Refused, match="null pointer"):
        target(call(None), 0)  # type: ignore[arg-type]


def test_memory_that_a_rank_reaches() -> None:
    assert reached(call(OTHERS, rank=1), 0) == OTHERS  # type: ignore[arg-type]
    with pytest.raises(Refused, match="an address of rank 1"):
        reached(call(OTHERS), 0)  # type: ignore[arg-type]


def test_an_array_of_integers_has_to_be_known() -> None:
    world = World(contents={variable("a", 4 * place): Known(place + 5) for place in range(2)})
    assert integers(call(variable("a"), world=world), 0, 2, INT) == [5, 6]  # type: ignore[arg-type]
    assert integers(call(None), 0, 0, INT) == []  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"\[2\] is not known"):
        integers(call(variable("a"), world=world), 0, 3, INT)  # type: ignore[arg-type]


def test_how_many_there_may_be() -> None:
    assert limited(call(), MOST, "pieces") == MOST  # type: ignore[arg-type]
    with pytest.raises(Refused, match="4,097 pieces"):
        limited(call(), MOST + 1, "pieces")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rank", "owner"),
    [(Me(), True), (Unary("cast", Me(), IntType(32, True)), True), (Unary("cast", Me(), IntType(8, True)), False),
     (Const(0), False)],
)  # fmt: skip
def test_casts_to_types_that_hold_all_ranks_change_no_owner(rank: Me | Unary | Const, owner: bool) -> None:
    assert is_owner(Me(), rank) == owner


@pytest.mark.parametrize(
    ("text", "name"),
    [("&base", "base"), ("(void **) &p->base", "p->base"), ("(void**)(char *)table", "table"), ("f(x)", None),
     ("&a[1]", None)],
)  # fmt: skip
def test_the_variable_or_member_that_an_argument_is_the_address_of(text: str, name: str | None) -> None:
    made = call(variable("x"))
    made.texts = (text,)
    assert member_in(made, 0) == name  # type: ignore[arg-type]
    assert member_in(made, 1) is None  # type: ignore[arg-type]
