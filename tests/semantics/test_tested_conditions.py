"""The conditions that awaits test, and which changes turn them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pgasrob.semantics.tested_conditions import Condition, Conditions
from pgasrob.semantics.tested_conditions import tested as condition_of
from tests.support import instance

SMALL = st.integers(-3, 3)


@given(st.sampled_from(("==", "!=", "<", "<=", ">", ">=")), SMALL, st.lists(SMALL, min_size=1))
def test_a_condition_holds_where_it_has_been_turned_often_enough(relation: str, value: int, held: list[int]) -> None:
    """Lemma 3 of proofs/waiting.md: whether it holds is whether it held, and how often it has been turned."""
    condition = Condition(0, relation, value)
    turned = sum(condition.turns(before, after) for before, after in pairwise(held))
    assert condition.holds(held[-1]) == (condition.holds(held[0]) ^ bool(turned % 2))


def test_conditions_have_numbers_behind_those_of_cells() -> None:
    program = instance(
        "await(mem[x] >= 1); await(mem[y] == 2); await(mem[x] >= 1); await(mem[x] < 3);",
        "await(mem[x] >= 1);",
        declarations="memory x, y;\nqueue q;",
    )
    conditions = Conditions(program)
    assert list(conditions) == [
        Condition(0, ">=", 1), Condition(1, "==", 2), Condition(0, "<", 3), Condition(2, ">=", 1)
    ]  # fmt: skip
    assert conditions.of_cell(0) == [4, 6] and conditions.of_cell(3) == []
    assert (conditions.turned(0, 0, 5), conditions.turned(0, 0, 2), conditions.turned(0, 3, 5)) == ([4, 6], [4], [])
    assert [conditions.cell_of(number) for number in (1, 4, 5, 7)] == [1, 0, 1, 2]
    transition = program.automata[0].out[0][0]
    operands = program.operands(0, transition, program.registers)
    assert (conditions.tested(operands), condition_of(operands)) == (4, Condition(0, ">=", 1))
