"""What is said of litmus tests, at two widths."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.models.litmus.expected_outcomes import LitmusTest
from pgasrob.models.litmus.litmus_parser import parse, parse_file
from pgasrob.models.litmus_answers import Answer, answer
from pgasrob.models.model_table import asked
from pgasrob.render.lines import ASCII, plain
from pgasrob.render.litmus_json import LitmusResult, litmus_to_json
from pgasrob.render.litmus_text import comparison_report, execution_report, forbidding_rules, litmus_report, summary
from pgasrob.robustness.limits import Limits
from tests.support import sampled

CORPUS = Path(__file__).parents[2] / "programs" / "litmus"
REUSE = "x@1=0, z@2=0 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z\nforbidden rdma-tso: a=1"


def result_of(test: LitmusTest, model: str, asked_for: tuple[tuple[str, int], ...] = ()) -> LitmusResult:
    found: Answer = answer(test, asked(model), Limits(), [asked_for] if asked_for else [])
    return litmus_to_json("test.litmus", found, executions=True)


def test_lines_break_at_blanks() -> None:
    """Also where a program has more locations, or longer statements, than there is room for on a line."""
    names = " ".join(f"x{number}@1={number}" for number in range(30))
    statement = f"x1 = {' + '.join(f'x{number}' for number in range(2, 30))}"
    text = f"{names} :: 1: {statement} || 1: x0 = x1; z^2 = x0"
    result = result_of(parse(f"z@2=0 {text}\nallowed {names.replace('@1', '')}"), "sc")
    for width in range(40, 100, 7):
        lines = plain(litmus_report([result], width)).splitlines()
        assert all(len(line) <= width for line in lines)
        said = " ".join(" ".join(lines).split())
        assert text.replace(" ||", "; ||") in said and f"allowed {names.replace('@1', '')}: " in said
        assert " x2=2 x3=3 x4=4 " in said


@pytest.mark.parametrize("width", [80, 120])
def test_reports_keep_to_the_width(width: int) -> None:
    for path in sampled(sorted(CORPUS.rglob("*.litmus")), 18):
        test = parse_file(path)
        results = [
            result_of(test, model) for model in ("corerma", "corerma without IR", "rdma-tso", "rdma-tso no-pcie", "sc")
        ]
        lines = litmus_report(results, width, others=["tso"])
        lines += comparison_report(results[0], results[4], width)
        for result in results:
            for execution in result["executions"]:
                lines += execution_report("An execution:", execution, width)
        for line in plain(lines).splitlines():
            assert len(line) <= width, (path, line)


def test_a_terminal_without_unicode() -> None:
    text = plain(litmus_report([result_of(parse(REUSE), "rdma-tso")], 80, ASCII))
    assert text.isascii()


def test_what_rules_are_called() -> None:
    assert forbidding_rules([]) == "no execution at all has these values."
    assert forbidding_rules([["IR"]]) == "by IR."
    assert forbidding_rules([["IR"], ["F2", "PG"]]) == "by IR, or by F2 and PG together."
    assert forbidding_rules([[f"R{number}"] for number in range(14)]).endswith("or by 8 other sets of rules.")


SEEN = "x@1=0 :: 1: a = x\n"


@pytest.mark.parametrize(
    ("expectation", "style", "said"),
    [
        ("allowed a=0", "good", [("test.litmus: ", ""), ("as expected in sc", "good")]),
        ("forbidden a=0", "bad", [("test.litmus: ", ""), ("not as expected in sc", "bad")]),
        ("", "", [("test.litmus: ", ""), ("nothing expected", "faint")]),
    ],
)
def test_the_colour_of_a_line_and_of_a_test_says_whether_all_is_as_expected(
    expectation: str, style: str, said: list[tuple[str, str]]
) -> None:
    result = result_of(parse(SEEN + expectation), "sc")
    assert summary([result]) == said
    lines = [line for line in litmus_report([result], 80) if f"line 2: {expectation}" in unbroken(plain([line]))]
    assert {each for line in lines for _, each in line if each} == ({style} if style else set())
    assert bool(lines) == bool(expectation)


def unbroken(text: str) -> str:
    return text.replace("\u00a0", " ")
