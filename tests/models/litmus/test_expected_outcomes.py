"""Outcomes compared with the lines of a test."""

from __future__ import annotations

import pytest

from pgasrob.models.litmus.expected_outcomes import compare, settings
from pgasrob.models.litmus.litmus_parser import parse


def test_variants_are_compared_as_sets_of_settings() -> None:
    assert settings("vpi, without IR, without LO") == settings("without LO without IR vpi")
    assert settings("without IR") != settings("IR") and settings("") == frozenset()


SB = """x@1 y@1 :: 1: x = 1; a = y || 1: y = 1; b = x
allowed a=0 b=1
allowed a=1
forbidden tso: a=0 b=0
allowed rdma-tso no-pcie: a=0 b=0
forbidden otherwise
"""


@pytest.mark.parametrize(
    ("model", "variant", "outcomes", "complete", "holds"),
    [
        ("sc", "", [(1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1)], True, [True, True, None, None, True]),
        ("sc", "", [(1, 1, 0, 1), (1, 1, 0, 0)], True, [True, False, None, None, False]),
        ("tso", "", [(1, 1, 0, 0)], True, [False, False, False, None, False]),
        ("tso", "", [(1, 1, 0, 1)], False, [True, None, None, None, None]),
        ("tso", "", [(1, 1, 0, 0)], False, [None, None, False, None, False]),
        ("rdma-tso", "", [(1, 1, 0, 1), (1, 1, 1, 0)], True, [True, True, None, None, True]),
        ("rdma-tso", "no-pcie", [(1, 1, 0, 1), (1, 1, 1, 1), (1, 1, 0, 0)], True, [True, True, None, True, True]),
        ("rdma-tso", "no-pcie", [], True, [False, False, None, False, True]),
    ],
)
def test_compare(
    model: str, variant: str, outcomes: list[tuple[int, ...]], complete: bool, holds: list[bool | None]
) -> None:
    compared = compare(parse(SB), model, variant, outcomes, complete=complete)
    assert [each.holds for each in compared] == holds
    assert [each.line for each in compared] == [2, 3, 4, 5, 6]


def test_compare_tells_the_outcomes_of_a_line() -> None:
    compared = compare(parse(SB), "tso", "", [(1, 1, 0, 0), (1, 1, 1, 0)])
    assert [each.outcomes for each in compared] == [(), ((1, 1, 1, 0),), ((1, 1, 0, 0),), (), ((1, 1, 0, 0),)]
