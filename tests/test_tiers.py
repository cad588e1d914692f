"""The quick tier leaves out what is named, and what is named is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests import tiers

ROOT = Path(__file__).parents[1]


def test_every_slow_test_exists() -> None:
    gone = []
    for function in tiers.FUNCTIONS | tiers.NOT_ONCE:
        file, _, name = function.partition("::")
        if not (ROOT / file).exists() or not re.search(
            rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE
        ):
            gone.append(function)
    assert not gone, "take them out of tests/tiers.py"


def test_of_many_cases_the_first_is_quick() -> None:
    few, many = "tests/robustness/test_spin.py::test_random_programs", "tests/robustness/test_spin.py::test_the_corpus"
    assert {few, many} <= tiers.FUNCTIONS
    tests = [f"{few}[1]", f"{few}[2]", *(f"{many}[{case}]" for case in range(4))]
    tests += [f"tests/test_tiers.py::test_quick[{case}]" for case in range(3)]
    tests += [f"tests/test_tiers.py::test_of_cases[{case}]" for case in range(4)]
    assert tiers.not_quick(tests) == {*tests[:2], *tests[3:6], *tests[10:]}
    (long, *_) = tiers.NOT_ONCE
    assert tiers.not_quick([f"{long}[1]"]) == {f"{long}[1]"}


def test_what_takes_long_comes_first() -> None:
    (longest, *_), name = sorted(tiers.LONGEST), "tests/robustness/test_spin.py::test_the_corpus"
    tests = ["tests/test_tiers.py::test_quick", f"{name}[1]", longest, f"{name}[2]"]
    assert sorted(tests, key=tiers.turn) == [longest, f"{name}[1]", f"{name}[2]", "tests/test_tiers.py::test_quick"]


def test_of_further_cases_the_default_tier_runs_some_of_each_function() -> None:
    for function, one_in in tiers.ONE_IN.items():
        cases = [f"{function}[{case}]" for case in range(40 * one_in)]
        ran = set(cases) - tiers.left_to_the_night(cases)
        assert 20 < len(ran) < 60, function
        assert set(cases[:2]) - tiers.left_to_the_night(cases[:2]), "one at least"
    assert not tiers.left_to_the_night(["tests/test_tiers.py::test_quick[1]", "tests/test_tiers.py::test_quick[2]"])
