"""Elements of variables by their offsets, and what an appendix may say of variables."""

from __future__ import annotations

from itertools import product

import pytest

from pgasrob.runtime.record.records import Place
from pgasrob.runtime.record.traced_variables import Allocation, Element, Variable, Variables, variables_of

TYPES = (
    ("unknown", 0), ("signed", 4), ("float", 8), ("array", 2, (2,)), ("struct", 24, (("id", 0, 1), ("at", 8, 3))),
    ("array", 4, (3, 2)),
)  # fmt: skip


def test_each_element_is_found_where_it_lies() -> None:
    known = Variables(TYPES)
    assert [known.size(type) for type in range(6)] == [0, 4, 8, 16, 24, 144]
    for one, other in product(range(3), range(2)):
        begin = (2 * one + other) * 24
        assert known.element(5, begin) == Element(f"[{one}][{other}].id", 4, "signed")
        assert known.element(5, begin + 2) == Element(f"[{one}][{other}].id", 4, "signed", 2)
        for place in range(2):
            assert known.element(5, begin + 8 + 8 * place) == Element(f"[{one}][{other}].at[{place}]", 8, "float")
    assert known.element(4, 4) == Element("", 0, "unknown", 4)  # between the members


READ: dict[str, object] = {
    "types": [["unknown", 0], ["signed", 4], ["array", 1, [3]], ["struct", 8, [["x", 0, 1]]]],
    "statics": [[0, 64, "b", 2], [0, 16, "a", 1]],
    "frames": [[0, 5, [[-8, "own", 3]]]],
    "allocations": [[0, 9, "inbox", "", 1]],
}


def test_what_is_read() -> None:
    found = variables_of(READ)
    assert found.statics == {0: [Variable(16, "a", 1), Variable(64, "b", 2)]}
    assert found.frames == {Place(0, 5): [Variable(-8, "own", 3)]}
    assert found.allocations == {Place(0, 9): Allocation("inbox", "", 1)}
    assert variables_of({}) == Variables(), "as before there were any"


@pytest.mark.parametrize(
    "wrong",
    [
        {"types": 3}, {"types": [["unknown", 0], ["array", 7, [1]]]}, {"types": [["unknown", 0], ["array", 0, [-1]]]},
        {"types": [["complex", 8]]}, {"types": [["signed", -4]]}, {"types": [["struct", 8, [["x", 0, 9]]]]},
        {"statics": [[0, 64, "b", 9]]}, {"statics": [[0, 64, "\n", 0]]}, {"statics": [[-1, 64, "b", 0]]},
        {"statics": [[0, True, "b", 0]]}, {"frames": [[0, 5, [[1 << 60, "own", 0]]]]}, {"frames": [[0, 5]]},
        {"allocations": [[0, 9, 1, "", 0]]}, {"allocations": [[0, 9, "inbox", "", 4]]}, {"frames": None},
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is no "):
        variables_of({**READ, **wrong})


def test_a_type_that_contains_itself_ends() -> None:
    types = [["array", 1, [2]], ["array", 0, [2]], ["struct", 8, [["x", 0, 2]]], ["signed", 4]]
    known = variables_of({**READ, "types": types})
    assert known.size(0) >= 0 and known.element(0, 8).bytes >= 0 and known.element(2, 0).bytes >= 0
