"""What is printed after all results: where errors are explained, and what fails only because of --strict."""

from __future__ import annotations

import json

import pytest

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.render.printers import PrintOptions, printer
from pgasrob.render.result_forms import VerdictForm
from pgasrob.render.verdict_json import Result, to_json
from tests.render.test_table import SYNTAX, expected, result

FAULT = "register r; process { r <- 1 / r; }"
EXPLAINED = "`pgasrob explain-error PG011` explains the error."


def printed(
    capsys: pytest.CaptureFixture[str],
    results: list[Result],
    expect: bool = False,
    as_json: bool = False,
    verbose: bool = False,
    strict: bool = False,
) -> str:
    options = PrintOptions("json" if as_json else "text", verbose, strict=strict)
    printing = printer(sorted({each["file"] for each in results}), VerdictForm(expect), options)
    for each in results:
        printing.result(each)
    printing.end()
    return capsys.readouterr().out


BAD = result("a.pgas", "error", None, errors=[SYNTAX, SYNTAX], reason="missing `;`")
ALSO_BAD = result("b.pgas", "error", None, errors=[SYNTAX], reason="missing `;`")


def test_the_last_line_says_where_an_error_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, [BAD]).endswith(f"\n\n{EXPLAINED}\n")


@pytest.mark.parametrize("verbose", [False, True])
def test_once_for_several_files(capsys: pytest.CaptureFixture[str], verbose: bool) -> None:
    assert printed(capsys, [BAD, ALSO_BAD], verbose=verbose).count(EXPLAINED) == 1


def test_not_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, [BAD, ALSO_BAD], as_json=True, strict=True)
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["a.pgas", "b.pgas"]


def test_faults_are_explained_too(capsys: pytest.CaptureFixture[str]) -> None:
    fault = to_json(check(parse(FAULT, "f.pgas"), 1))
    assert printed(capsys, [fault]).endswith("`pgasrob explain-error PG040` explains the error.\n")
    several = printed(capsys, [fault, BAD])
    assert "f.pgas:1:23: error[PG040]: rank 0: division by zero: 1 / 0\n" in several
    assert several.count("`pgasrob explain-error CODE` explains PG011 and PG040.") == 1


def test_nothing_is_explained_when_nothing_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert "explain" not in printed(capsys, [result("a.pgas")])


@pytest.mark.parametrize(("strict", "count"), [(False, 0), (True, 1)])
def test_a_single_result_that_fails_because_of_strict_says_so(
    capsys: pytest.CaptureFixture[str], strict: bool, count: int
) -> None:
    single = expected("a.pgas", "robust", "robust", assertions="violated")
    out = " ".join(printed(capsys, [single], expect=True, strict=strict).split())
    assert out.count("1 as expected fails only because of --strict (a failing assertion or a deadlock).") == count


def test_below_rows_it_is_said_where_runs_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    robust, other = result("a.pgas"), result("b.pgas", "not robust")
    assert VerdictForm.hint in printed(capsys, [robust, other])
    assert VerdictForm.hint not in printed(capsys, [robust, result("b.pgas")])
