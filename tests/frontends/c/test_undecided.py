"""Unknown values: what is assumed of them, how they are chosen, how they are numbered."""

from dataclasses import replace

import pytest

from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.nondeterminism import Bounds, Leaf, leaves
from pgasrob.frontends.c.problem import Beyond
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Known, Unknown
from pgasrob.program.expressions import Binary, Const, IntType, Register
from pgasrob.program.statements import Choose
from tests.frontends.c.rank_parts import parts_of, slot, variable

INT32 = IntType(32, True)


def less(leaf: Leaf, value: int) -> Binary:
    return Binary("<", leaf, Const(value), INT32)


def plus(leaf: Leaf, value: int) -> Binary:
    return Binary("+", leaf, Const(value), INT32)


def test_conditions_on_what_is_assumed() -> None:
    parts = parts_of()
    undecided, leaf = parts.undecided, parts.undecided.new_leaf("random", (0, 9))
    assert undecided.decided(less(leaf, 10)) is True
    assert undecided.decided(less(leaf, 0)) is False
    assert undecided.decided(less(leaf, 5)) is None
    undecided.assume(parts.position.state, less(leaf, 5), truth=True)
    assert undecided.bounds(leaf) == Bounds(0, 4)
    assert undecided.decided(less(leaf, 5)) is True
    undecided.forget()
    assert undecided.bounds(leaf) == Bounds(0, 9) and leaf in parts.position.state.guarded


def test_what_is_added_to_a_value_is_known_to_be_equal_to_a_number_as_that_is() -> None:
    """Also where sums wrap round, and of no number that the type does not have."""
    undecided = parts_of().undecided
    leaf, greatest = undecided.new_leaf("random", (0, 2**31 - 1)), Const(2**31 - 1)
    assert undecided.decided(Binary("==", plus(leaf, 1), Const(0), INT32)) is False
    assert undecided.decided(Binary("!=", Const(0), plus(leaf, 1), INT32)) is True
    for term, value in ((plus(leaf, 1), Const(-(2**31))), (Binary("-", leaf, Const(2), INT32), Const(-2))):
        assert undecided.decided(Binary("==", term, value, INT32)) is None
    assert undecided.decided(Binary("==", plus(leaf, 1), Const(2**31), INT32)) is False
    assert undecided.decided(Binary("<", plus(leaf, 1), Const(0), INT32)) is None
    assert undecided.decided(Binary(">", plus(leaf, 1), greatest, INT32)) is False


def test_what_is_computed_of_what_the_run_knows_is_fixed_with_all_that_is_made_of_it() -> None:
    undecided = parts_of().undecided
    one = replace(undecided.new_leaf("input", (0, 9)), fixed=True)
    made, two = undecided.new_leaf("unknown", (0, 9), of=[one]), undecided.new_leaf("random", (0, 9))
    of_two = undecided.new_leaf("unknown", (0, 9), of=[one, two])
    for leaf, vain in ((one, True), (made, True), (of_two, False)):
        assert [way.vain for truth in (True, False) for way in undecided.ways(less(leaf, 3), truth)] == [vain, vain]


def test_the_only_value_left_is_known_everywhere() -> None:
    parts = parts_of()
    leaf, x = parts.undecided.new_leaf("random", (0, 9)), variable(parts, "x", INT)
    parts.position.frame.slots[slot(parts, "i")] = Unknown(plus(leaf, 1))
    parts.objects.contents(x.object, write=True).store(0, Unknown(leaf), INT)
    parts.undecided.assume(parts.position.state, Binary("==", leaf, Const(3), INT32), truth=True)
    assert parts.position.frame.slots[slot(parts, "i")] == Known(4)
    assert parts.objects.contents(x.object).load(0, INT) == Known(3)


def test_a_new_value_has_the_origins_of_those_it_is_made_of() -> None:
    undecided = parts_of().undecided
    first = undecided.new_leaf("random", origins=frozenset({"a"}))
    second = undecided.new_leaf("random", of=[first], origins=frozenset({"b"}))
    assert second.origins == {"a", "b"} and second.index != first.index and undecided.facts.unknowns
    undecided.decisive([second])
    assert undecided.facts.decisive_variables == {"a", "b"}


def test_an_index_is_chosen_from_what_is_inside_and_one_fault() -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (0, 9))
    chosen = parts.undecided.settled(leaf, "an index", (0, 3))
    assert isinstance(chosen, Register) and not leaves(chosen)
    [statement] = parts.writer.node.statements
    assert isinstance(statement, Choose) and len(statement.branches) == 5  # 0 to 3, and one outside
    assert parts.undecided.chosen == {leaf: chosen} and chosen.index in parts.registers.taken


def test_too_many_values_to_try() -> None:
    parts = parts_of()
    with pytest.raises(Beyond, match="too many to try each"):
        parts.undecided.settled(parts.undecided.new_leaf("random", (0, 5000)), "an index")
    assert len(parts.undecided.each_value(parts.undecided.new_leaf("random", (2, 4)), "a size")) == 3


def test_a_value_outside_that_may_not_be_taken_is_a_gap() -> None:
    parts = parts_of()
    leaf = parts.undecided.new_leaf("random", (0, 9), exact=False)
    parts.undecided.settled(leaf, "an index", (0, 3))
    [statement] = parts.writer.node.statements
    assert isinstance(statement, Choose) and len(statement.branches) == 4
    assert list(parts.world.gaps) == ["line 1: an index is an unknown value, which may be out of range"]


def test_the_values_that_are_certainly_taken() -> None:
    undecided = parts_of().undecided
    leaf = undecided.new_leaf("random", (0, 9))
    assert undecided.drawn(plus(leaf, 1), lambda value: value > 8) == {9, 10}
    assert undecided.drawn(undecided.new_leaf("random", (0, 9), exact=False), lambda value: True) == set()


def test_numbers_of_unknown_values_tell_nothing_apart() -> None:
    parts = parts_of()
    first, second = (parts.undecided.new_leaf("random") for _ in range(2))
    frame = parts.position.frame
    frame.pc = 2  # i + j
    frame.slots[slot(parts, "i")], frame.slots[slot(parts, "j")] = Unknown(second), Unknown(second)
    parts.position.state.assumed = {first: Bounds(1, 2)}
    parts.undecided.renumber()
    values = [frame.slots[slot(parts, name)] for name in ("i", "j")]
    assert values[0] == values[1] and isinstance(values[0], Unknown)
    assert isinstance(values[0].expr, Leaf) and values[0].expr.index == -1
    assert parts.position.state.assumed == {} and parts.position.state.leaves == 1


def test_a_scalar_that_would_hold_a_register_goes_to_a_cell() -> None:
    parts = parts_of()
    leaf, x = parts.undecided.new_leaf("random", (0, 1)), variable(parts, "x", INT)
    parts.objects.contents(x.object, write=True).store(0, Unknown(plus(leaf, 1)), INT)
    parts.undecided.substitute(parts.position.state, leaf, Register("r", 5))
    assert parts.facts.objects[x.object].in_cells and not parts.facts.is_steady(x.object, 0)
    assert Contents.get(parts.objects.contents(x.object), 0) is None
