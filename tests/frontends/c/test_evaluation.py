"""Values that are put into registers, or become unknown values of their own."""

import pytest

from pgasrob.frontends.c.nondeterminism import Leaf
from pgasrob.frontends.c.values import Address, Known, ObjectId, Unknown
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register, Unary
from pgasrob.program.statements import Choose
from tests.frontends.c.rank_parts import parts_of, written

INT32 = IntType(32, True)
R = Register("r", 90)


def sum_of(first: Expr, count: int) -> Expr:
    for _ in range(count):
        first = Binary("+", first, R, INT32)
    return first


def test_small_values_stay_expressions() -> None:
    parts = parts_of()
    for value in (
        Known(1),
        Unknown(R),
        Unknown(sum_of(R, 7)),
        Unknown(Unary("-", sum_of(R, 7), INT32)),
        Address(ObjectId("heap", 0), 0),
    ):
        assert parts.evaluation.materialised(value) is value
    assert written(parts) == []


@pytest.mark.parametrize("expr", [sum_of(R, 8), Binary("/", Const(1), R, INT32)])
def test_large_values_and_such_that_may_fail_go_to_registers(expr: Expr) -> None:
    parts = parts_of()
    value = parts.evaluation.materialised(Unknown(expr))
    [assign] = written(parts)
    assert isinstance(assign, Assign) and assign.value == expr and value == Unknown(assign.register)


def test_a_large_unknown_value_is_one_of_its_own() -> None:
    parts = parts_of()
    value = parts.evaluation.materialised(Unknown(sum_of(parts.undecided.new_leaf("random"), 8)))
    assert isinstance(value, Unknown) and isinstance(value.expr, Leaf) and not value.expr.exact
    assert written(parts) == []


def test_a_division_by_an_unknown_value_may_fail() -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (0, 3))
    parts.evaluation.materialised(Unknown(Binary("/", Const(6), leaf, INT32)))
    [choice] = parts.writer.node.statements
    assert isinstance(choice, Choose) and len(choice.branches) == 2
    assert 0 not in (parts.undecided.bounds(leaf) or [0])  # whoever comes further has divided


def test_a_division_that_cannot_fail() -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (1, 3))
    value = Unknown(Binary("/", Const(6), leaf, INT32))
    assert parts.evaluation.materialised(value) == value and not parts.writer.node.statements


def test_a_shift_of_which_it_is_not_known_whether_it_fails_is_a_gap() -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (0, 40), exact=False)
    parts.evaluation.materialised(Unknown(Binary("<<", Const(1), leaf, INT32)))
    assert len(parts.world.gaps) == 1 and not parts.writer.node.statements


@pytest.mark.parametrize(("highest", "branches"), [(31, []), (32, [2])])
def test_a_shift_fails_from_the_width_of_its_type_on(highest: int, branches: list[int]) -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (0, highest))
    parts.evaluation.materialised(Unknown(Binary("<<", Const(1), leaf, INT32)))
    assert [len(each.branches) for each in parts.writer.node.statements if isinstance(each, Choose)] == branches
