"""What a verdict rests on, in the report: two lines at most, the whole list when it is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.parser import parse
from pgasrob.render.assumptions_text import LONGEST, listed, sentence
from pgasrob.render.lines import plain, wrap
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.render.verdict_text import verdict_report


def resting(*codes: str, verdict: str = "robust", lines: tuple[int, ...] = (3,), c: bool = True) -> Result:
    """A result that rests on what every one does, and on ``codes``."""
    scopes = [("program-order", "every"), *[("platform", "C")] * c, *((code, "construct") for code in codes)]
    found = [
        {"code": code, "text": f"it is {code}", "lines": [*lines] if scope == "construct" else [], "scope": scope}
        for code, scope in scopes
    ]
    result: Any = {"verdict": verdict, "assumptions": found}
    return result


def said(result: Result) -> str:
    return (sentence(result) or "").replace("\u00a0", " ")


ALL = " (--assumptions lists all)."


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (resting(c=False), "Rests on the general assumptions"),
        (resting(), "Rests on the general assumptions on C"),
        (resting("hints"), "Rests on the general assumptions on C and hints (line 3)"),
        (resting("hints", lines=(3, 4)), "Rests on the general assumptions on C and hints (lines 3 and 4)"),
        (resting("hints", lines=()), "Rests on the general assumptions on C and hints"),
        (resting("hints", lines=(1, 2, 5, 7)), "Rests on the general assumptions on C and hints (line 1 and 3 others)"),
        (resting("hints", "no-effect"), "Rests on the general assumptions on C, hints (line 3) and 1 more"),
        (resting("arguments", "no-effect"), "Rests on the general assumptions on C and 2 more"),
        (
            resting("hints", verdict="not robust"),
            "The run shown rests on hints (line 3)",
        ),
    ],
)
def test_the_sentence(result: Result, text: str) -> None:
    assert said(result) == text + ALL


@pytest.mark.parametrize("codes", [(), ("arguments", "no-effect")])
def test_a_run_that_needs_nothing_special_says_nothing(codes: tuple[str, ...]) -> None:
    assert sentence(resting(*codes, verdict="not robust")) is None


def test_results_without_assumptions() -> None:
    nothing: Any = {"verdict": "unknown", "assumptions": []}
    old: Any = {"verdict": "robust"}
    assert sentence(nothing) is None and sentence(old) is None and listed(nothing, 80) == listed(old, 80) == []


@pytest.mark.parametrize("lines", [(), (1000,), (1000, 1001, 1002, 1003)])
def test_it_is_two_lines_however_much_there_is(lines: tuple[int, ...]) -> None:
    result = resting(*(kind.value for kind in Kind), lines=lines)
    text = said(result)
    assert len(text) <= LONGEST and len(wrap(sentence(result) or "", 80, "  ", "  ")) <= 2
    named = sum(kind.value in text for kind in Kind)
    assert named and f" and {len(Kind) - named} more" in text


def test_the_list() -> None:
    text = "#include <stdlib.h>\nint main(void) {\n  return rand() < 3;\n}\n"
    result = to_json(check(parse_c(text, "some.c"), 1))
    shown = plain(listed(result, 60))
    assert max(map(len, shown.splitlines()[1:])) <= 60
    assert all(f"\n    {each['code']} " in shown for each in result["assumptions"])
    end = ("any", "value, and a different one each time", "(line 3)\n")
    assert shown.endswith(f"\n{20 * ' '}".join(end))


@pytest.mark.parametrize("list_all", [False, True])
def test_the_report_has_the_sentence_or_the_list(list_all: bool) -> None:
    result = to_json(check(parse("process { skip; }"), 1))
    report = plain(verdict_report(result, list_assumptions=list_all))
    assert (ALL in report, "    program-order " in report) == (not list_all, list_all)
