"""The table of several results: it fits, shows what was found and expected, and says the rest below."""

from __future__ import annotations

from typing import Any

import pytest

from pgasrob.render import lines as styled
from pgasrob.render.result_forms import VerdictForm
from pgasrob.render.shared_json import Error
from pgasrob.render.table import Table, amount
from pgasrob.render.verdict_json import Result

SYNTAX: Error = {
    "code": "PG011",
    "message": "missing `;`",
    "line": 3,
    "column": 9,
    "length": 1,
    "excerpt": "memory x",
    "hint": "put a `;` here",
}


def result(file: str, verdict: Any = "robust", nodes: int | None = 2, **more: Any) -> Result:
    found: dict[str, Any] = {
        "schema": 1, "file": file, "program": "p", "nodes": nodes, "engine": "product", "verdict": verdict,
        "reason": None, "assertions": None, "deadlock": None, "communicates": None,
        "stats": {"states": 1234, "transitions": 2345, "seconds": 0.126, "sc_states": 12},
        "witness": None, "assertion_run": None, "deadlock_run": None, "errors": [],
        "limit": None,
    }  # fmt: skip
    return found | more  # type: ignore[return-value]


def expected(file: str, verdict: str, wanted: str | None, **more: Any) -> Result:
    return result(file, verdict, expected=wanted, as_expected=verdict == wanted, **more)


def text(results: list[Result], width: int = 80, expect: bool = False, strict: bool = False) -> list[str]:
    table = Table(VerdictForm(expect), [each["file"] for each in results], width)
    lines = [table.header(), *map(table.row, results), *table.end(results, 1.5, strict)]
    return styled.plain(lines).splitlines()


def test_a_table() -> None:
    results = [
        result("ring.pgas", "not robust", assertions="hold", deadlock=False),
        result("ring.pgas", "robust", 3, assertions="violated", deadlock=True),
        result("lock/ticket.pgas", "unknown", 4, assertions="unknown", deadlock="unknown", reason="the limit was hit"),
        result("bad.pgas", "error", None, errors=[SYNTAX], reason="missing `;`"),
    ]
    assert text(results) == [
        "file              nodes  verdict     SC runs        states  seconds",
        "ring.pgas             2  not robust  ok              1.23k     0.13",
        "ring.pgas             3  robust      stuck, fails    1.23k     0.13",
        "lock/ticket.pgas      4  unknown     stuck?, fails?  1.23k     0.13",
        "bad.pgas              -  error       -               1.23k     0.13",
        "",
        "lock/ticket.pgas (nodes: 4): unknown: the limit was hit",
        "bad.pgas:3:9: error[PG011]: missing `;`",
        "`pgasrob explain-error PG011` explains the error.",
        "",
        "4 results in 1.50 s: 1 robust, 1 not robust, 1 unknown, 1 error, 1 with a",
        "failing assertion, 1 with a deadlock.",
    ]


def test_found_and_expected_stand_side_by_side() -> None:
    results = [
        expected("a.pgas", "robust", "robust"),
        expected("b.pgas", "not robust", "robust"),
        expected("c.pgas", "robust", None),
        expected("d.pgas", "unknown", "robust", reason="the limit was hit"),
        expected("e.pgas", "error", "error", errors=[SYNTAX]),
        expected("f.pgas", "error", "robust", errors=[SYNTAX]),
    ]
    found = text(results, expect=True)
    assert found[:8] == [
        "file   nodes  found         expected   SC runs        states seconds",
        "a.pgas     2  robust     =  robust     -               1.23k    0.13",
        "b.pgas     2  not robust != robust     -               1.23k    0.13",
        "c.pgas     2  robust     != nothing    -               1.23k    0.13",
        "d.pgas     2  unknown    ?  robust     -               1.23k    0.13",
        "e.pgas     2  error      =  error      -               1.23k    0.13",
        "f.pgas     2  error      != robust     -               1.23k    0.13",
        "",
    ]
    notes = found[8:]
    assert "b.pgas (nodes: 2): found not robust, expected robust" in notes
    assert "c.pgas (nodes: 2): found robust, but no `// expect:` says what was expected" in notes
    assert "d.pgas (nodes: 2): unknown: the limit was hit" in notes
    assert not any(note.startswith(("a.pgas", "e.pgas")) for note in notes)
    assert notes.count("f.pgas:3:9: error[PG011]: missing `;`") == 1
    assert notes[-1] == "2 as expected, 4 not."


def test_a_file_without_a_node_count_can_only_be_expected_to_be_an_error() -> None:
    found = text([expected("a.pgas", "error", None, nodes=None, errors=[SYNTAX])], 200, expect=True)
    assert "a.pgas: found error, but no `// expect: error` without `at ...`, for it has no node count" in found


def test_faults_have_the_form_of_diagnostics_and_codes_are_named_once() -> None:
    fault = {"code": "PG040", "rank": 1, "command": "r <- 1 / r", "line": 14, "column": 3,
             "reason": "division by zero: 1 / 0", "registers": {"r": 0}}  # fmt: skip
    results = [
        result("a.pgas", "error", witness={"fault": fault}, reason="rank 1 faults at r <- 1 / r"),
        result("b.pgas", "error", None, errors=[SYNTAX, SYNTAX | {"code": "PG050"}]),
        result("c.pgas", "error", None, errors=[SYNTAX]),
    ]
    notes = text(results)[5:]
    assert notes[0] == "a.pgas:14:3: error[PG040]: rank 1: division by zero: 1 / 0"
    assert [note for note in notes if "explain-error" in note] == [
        "`pgasrob explain-error CODE` explains PG011, PG040 and PG050."
    ]


def test_errors_that_were_expected_are_not_explained() -> None:
    assert "explain" not in "\n".join(text([expected("a.pgas", "error", "error", errors=[SYNTAX])], expect=True))


def test_the_summary_says_what_fails_only_because_of_strict() -> None:
    failing = [
        expected("a.pgas", "robust", "robust", assertions="violated"),
        expected("b.pgas", "not robust", "not robust", deadlock=True),
        expected("c.pgas", "not robust", "robust", deadlock=True),
        expected("d.pgas", "robust", "robust"),
    ]
    found = text(failing, expect=True, strict=True)
    assert found[-2:] == [
        "3 as expected, 1 not.",
        "2 as expected fail only because of --strict (a failing assertion or a deadlock).",
    ]
    assert text(failing, expect=True)[-1] == "3 as expected, 1 not."
    assert text(failing[3:], expect=True, strict=True)[-1] == "1 as expected, 0 not."
    plain = text(failing, strict=True)
    assert plain[-1] == "1 robust fails only because of --strict (a failing assertion or a deadlock)."


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("expect", [False, True])
def test_the_table_stays_within_its_width(width: int, expect: bool) -> None:
    path = "/".join(f"folder{number}" for number in range(30)) + "/name_of_the_program.pgas"
    busy = {"states": 10**9, "transitions": 10**9, "seconds": 99_999.0, "sc_states": 5}
    results = [
        expected(path, "not robust", "not robust", nodes=1024, stats=busy, assertions="violated", deadlock=True),
        expected("b.pgas", "unknown", None, reason="word " * 60),
    ]
    found = text(results, width, expect)
    # A path in the notes has to be whole, so there it may stick out.
    assert max(len(line) for line in found if "folder0/" not in line) <= width
    if width == 120:
        assert "…" in found[1] and "name_of_the_program" in found[1]


def test_paths_are_cut_from_the_left() -> None:
    assert styled.shorten("a/b.pgas", 8, styled.UNICODE) == "a/b.pgas"
    assert styled.shorten("aa/b.pgas", 8, styled.UNICODE) == "aa/b"
    assert styled.shorten("folder/program.pgas", 8, styled.UNICODE) == "fo…ogram"
    assert styled.shorten("folder/program.c", 8, styled.ASCII) == "f...am.c"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"), (999, "999"), (1000, "1.00k"), (1234, "1.23k"), (9_999, "10.0k"), (12_345, "12.3k"),
        (99_960, "100k"), (123_456, "123k"), (999_600, "1.00M"), (1_234_567, "1.23M"), (12e9, "12.0G"), (5e12, "5e+12"),
    ],
)  # fmt: skip
def test_amounts_are_short(count: float, shown: str) -> None:
    assert amount(count) == shown and len(shown) <= 5


def test_the_summary_counts() -> None:
    one = text([result("a.pgas")])
    assert one[-1] == "1 result in 1.50 s: 1 robust."
    two = text([result("a.pgas", "not robust", assertions="violated"), result("b.pgas", "not robust")])
    assert two[-1] == "2 results in 1.50 s: 2 not robust, 1 with a failing assertion."


NAMES = {
    "a\x1b[31mb.pgas": r"a\x1b[31mb.pgas",
    "a\nb.pgas": r"a\nb.pgas",
    "\udcff.pgas": r"\xff.pgas",
    "é ü.pgas": "é ü.pgas",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_cannot_disturb_the_terminal(name: str) -> None:
    lines = text([result(name, "error", None, errors=[SYNTAX]), expected(name, "robust", None), result("x")], 120)
    shown = NAMES[name]
    assert lines[1].startswith(f"{shown:<{len(shown)}}      -") and lines[3].startswith(f"{'x':<{len(shown)}}      2")
    assert f"{shown}:3:9: error[PG011]: missing `;`" in lines
    assert all(line.isprintable() for line in lines)


def test_the_limits_that_were_hit_are_counted() -> None:
    results = [
        result("a.pgas", "unknown", reason="the time limit was hit", limit="timeout"),
        result("b.pgas", "unknown", reason="the time limit was hit", limit="timeout"),
        result("c.pgas", "unknown", reason="the memory limit was hit", limit="memory-limit"),
        result("d.pgas", "robust"),
    ]
    last = " ".join(text(results)[-2:])
    assert last.endswith("1 robust, 3 unknown (2 by --timeout, 1 by --memory-limit).")
