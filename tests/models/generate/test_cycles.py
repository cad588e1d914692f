"""The pivot condition is what section 6.1 says, by trying all executions of small programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgasrob.models.generate.conventions import Conventions
from pgasrob.models.generate.corerma_shapes import shapes
from pgasrob.models.generate.cycles import pivots, values
from pgasrob.models.generate.programs import Shape
from pgasrob.models.generate.static_order import RULES, actions_of
from tests.models.generate.brute_force import LETTER, has_pivot, static

CAS = (
    Shape((0,), (0,), ((("cas", (0, 0, 0, 0)), ("load", (0,)), ("load", (0,))),)),
    Shape((0, 0), (0,), ((("cas", (0, 1, 0, 0)), ("load", (1,)), ("load", (0,))),)),
    Shape((0, 0), (0,), ((("cas", (0, 1, 1, 0)), ("load", (0,)), ("load", (1,))),)),
    Shape((0, 1), (0, 1), ((("cas", (0, 1, 0, 0)), ("load", (0,))), (("load", (1,)),))),
)
NAMES = (*(rule for rule in RULES if not rule.startswith("CAS")), "CAS")


def found(shape: Shape, rule: str, conventions: Conventions) -> bool:
    actions = actions_of(shape, conventions.ir_own)
    name = "CAS-T" if rule == "CAS" else rule
    initial = tuple(range(len(shape.owners)))
    return next(pivots(actions, name, replace(conventions, cas_values="free"), initial), None) is not None


def compared(shape: Shape, conventions: Conventions) -> set[str]:
    """The rules of which ``shape`` has a pivot; it has those of trying everything."""
    has = {rule for rule in NAMES if found(shape, rule, conventions)}
    assert has == {rule for rule in NAMES if has_pivot(shape, rule, conventions)}, shape
    return has


@pytest.mark.parametrize(
    ("processes", "size", "conventions"),
    [
        (1, 6, LETTER),
        (2, 7, LETTER),
        (1, 5, replace(LETTER, observed="count", reads="more")),
        (1, 4, replace(LETTER, reads="none")),
        (2, 6, replace(LETTER, reads="none")),
        (1, 6, replace(LETTER, ir_own=False)),
    ],
)
def test_pivots_of_small_programs_are_those_of_trying_everything(
    processes: int, size: int, conventions: Conventions
) -> None:
    seen = set().union(*(compared(shape, conventions) for shape in shapes(size, processes, conventions)))
    assert {"R2", "LO"} <= seen


@pytest.mark.parametrize("shape", CAS)
def test_pivots_of_a_cas(shape: Shape) -> None:
    assert "CAS" in compared(shape, LETTER)


@pytest.mark.nightly
@pytest.mark.parametrize(("processes", "size"), [(1, 7), (2, 8)])
def test_pivots_of_all_rules_are_those_of_trying_everything(processes: int, size: int) -> None:
    seen = set().union(*(compared(shape, LETTER) for shape in shapes(size, processes, LETTER)))
    assert seen >= set(NAMES) - {"F2", "F3"}


@pytest.mark.parametrize(("processes", "size", "ir_own"), [(1, 7, True), (2, 7, True), (2, 6, False)])
def test_static_edges_are_those_of_figure_4(processes: int, size: int, ir_own: bool) -> None:
    conventions = replace(LETTER, own_targets="always")
    for shape in shapes(size, processes, conventions):
        actions = actions_of(shape, ir_own)
        expected = sorted((rule, edge) for rule, _, edge in static(actions.actions, ir_own))
        assert sorted((edge.rule, (edge.before, edge.after)) for edge in actions.edges) == expected


def test_local_order_as_the_text_has_it() -> None:
    shape = Shape((0, 1), (0,), ((("load", (0,)), ("flush", (1,)), ("store", (0,)), ("put", (1, 0))),))

    def behind(local_order: str) -> set[tuple[int, int]]:
        edges = actions_of(shape, True, local_order).edges
        return {(edge.before, edge.after) for edge in edges if edge.rule == "LO"}

    assert behind("all") == {(0, 1), (0, 2), (0, 3), (0, 4), (2, 3), (2, 4)}
    assert behind("flush") == {(0, 1), (0, 2)}
    assert behind("local") == {(0, 2)}


def test_a_cas_of_the_rule_has_equal_or_other_values() -> None:
    equal = Shape((0, 0), (0,), ((("cas", (0, 0, 0, 1)), ("load", (0,)), ("load", (0,))),))
    other = Shape((0, 0), (0,), ((("cas", (0, 0, 1, 0)), ("load", (0,)), ("load", (0,))),))
    for shape, rules in ((equal, {"CAS-T", "CAS-F"}), (other, {"CAS-F", "CAS-T"})):
        actions = actions_of(shape)
        for rule in rules:
            for pivot in pivots(actions, rule, LETTER, (0, 1)):
                read, _ = values(actions, pivot.source, (0, 1))
                if read[0] is not None and read[2] is not None:
                    assert (read[0] == read[2]) == (rule == "CAS-T")


def test_values_flow_from_write_to_read() -> None:
    shape = Shape(
        (0, 1),
        (0, 1),
        (
            (("store", (0,)), ("rga", (0, 1, 0)), ("load", (0,))),
            (("load", (1,)),),
        ),
    )
    actions = actions_of(shape)
    # w x, er x, erw y, ew x, r x; r y. The store writes 2, y holds 1.
    read, wrote = values(actions, {1: 0, 2: None, 4: 3, 5: 2}, (0, 1))
    assert wrote == [2, None, 3, 1, None, None]
    assert read == [None, 2, 1, None, 1, 3]
    # x is read from the rga's own last write: out of thin air.
    read, wrote = values(actions, {1: 3, 2: 2, 4: 0, 5: None}, (0, 1))
    assert wrote == [2, None, None, None, None, None]
    assert read == [None, None, None, None, 2, 1]
