"""Shortest programs that tell two models apart."""

from __future__ import annotations

import pytest

from pgasrob.models.generate.distinguish import Distinguishing, bounds_for, distinguish, spelled
from pgasrob.models.generate.programs import Shape
from pgasrob.models.generate.rdma_shapes import Bounds, shapes
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.models.model_table import asked, label
from tests.models.generate.brute_force import canonical


def shortest(first: str, second: str, size: int, waits: bool = False) -> dict[str, Distinguishing]:
    """The first program in each direction, by the model that allows more."""
    found: dict[str, Distinguishing] = {}
    for each in distinguish(asked(first), asked(second), size, Bounds(), waits):
        found.setdefault(label(each.first), each)
        if len(found) == 2:
            break
    return found


@pytest.mark.parametrize(
    ("first", "second", "size", "programs"),
    [
        ("sc", "tso", 3, {}),
        ("rdma-tso", "sc", 2, {"rdma-tso": "x@1=0 y@2=1 :: 1: x = y^2; a = x;"}),
        (
            "rdma-tso",
            "corerma",
            2,
            {
                "rdma-tso": "x@1=0 y@2=1 :: 1: x = y^2; y^2 = x;",
                "corerma": "x@1=0 y@2=1 z@2=2 :: 1: x = y^2; x = z^2;",
            },
        ),
        (
            "rdma-tso",
            "pgas",
            2,
            {
                "rdma-tso": "x@1=0 y@2=1 :: 1: x = y^2; y^2 = x;",
                "pgas": "x@2=0 y@1=1 :: 1: x^2 = y; y = x^2;",
            },
        ),
        ("corerma vpi", "corerma", 2, {"corerma vpi": "x@1=0 y@2=1 :: 1: x = y^2; y^2 = x;"}),
    ],
)
def test_shortest_programs(first: str, second: str, size: int, programs: dict[str, str]) -> None:
    found = shortest(first, second, size)
    assert {name: in_one_line(each.program) for name, each in found.items()} == programs


def test_store_buffering_tells_tso_from_sc() -> None:
    (found,) = shortest("sc", "tso", 4).values()
    assert label(found.first) == "tso"
    assert sorted(kind for thread in found.shape.threads for kind, _ in thread) == ["load", "load", "store", "store"]


def test_what_is_told_is_so() -> None:
    count = 0
    for each in distinguish(asked("rdma-tso"), asked("corerma"), 2, Bounds()):
        (text,) = each.text()
        test = parse(text, "generated.litmus")
        first, second = (model.outcomes(test.program).found for model in (each.first, each.second))
        assert each.outcomes == frozenset(first) - frozenset(second) != frozenset()
        for line in test.expectations:
            has = [
                outcome
                for outcome in (first if line.allowed else second)
                if outcome == tuple(v for _, v in line.values)
            ]
            assert bool(has) == line.allowed
        count += 1
    assert count == 3


def test_waiting_is_a_flush_or_polls() -> None:
    shape = Shape((0, 1), (0,), ((("get", (0, 1)), ("put", (1, 0)), ("wait", (1,)), ("get", (0, 1)), ("wait", (1,))),))
    assert spelled(shape, asked("corerma")).threads == (
        (("get", (0, 1)), ("put", (1, 0)), ("flush", (1,)), ("get", (0, 1)), ("flush", (1,))),
    )
    assert spelled(shape, asked("rdma-tso")).threads == (
        (("get", (0, 1)), ("put", (1, 0)), ("poll", (1,)), ("poll", (1,)), ("get", (0, 1)), ("poll", (1,))),
    )


def test_a_polled_put_need_not_be_placed_and_a_flushed_one_is() -> None:
    """The two spellings of one program are two files."""
    bounds = Bounds(2, 2, 2)
    first, second = asked("rdma-tso"), asked("corerma")
    wanted = canonical(Shape((1, 0), (0,), ((("put", (0, 1)), ("wait", (1,)), ("load", (1,))),)))
    assert wanted not in list(shapes(3, bounds))
    assert wanted in list(shapes(3, bounds_for(first, second, bounds, waits=True)))
    tests = [each for each in distinguish(first, second, 3, bounds, waits=True) if each.program != each.other]
    names = {test.name for each in tests for test in each.tests("t")}
    assert names == {"t-rdma-tso", "t-corerma"}
    for each in tests:
        for text in each.text():
            assert parse(text).program.names == each.program.names


def test_the_lines_of_variants_are_read_back() -> None:
    """Also of several semantics, which lines do not name, and of several words and rules."""
    first, second = asked("corerma vpi without F1"), asked("corerma")
    test = next(distinguish(first, second, 3, Bounds(2, 2, 2)))
    (text,) = test.text("t")
    assert "\nallowed corerma vpi without F1: " in text
    assert [line.models for line in parse(text).expectations[:1]] == [(("corerma", "vpi without F1"),)]
    concrete = Distinguishing(
        asked("rdma-tso concrete no-pcie"), second, test.shape, *[test.program] * 2, test.outcomes
    )
    assert all("allowed rdma-tso no-pcie: " in each and parse(each) for each in concrete.text("t"))
