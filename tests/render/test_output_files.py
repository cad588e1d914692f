"""Formats by the ending of a file, writing files, and every run of the corpus in the formats without a picture."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from pgasrob.render.findings import in_json
from pgasrob.render.output_files import FORMATS, UnknownFormat, format_of, write
from pgasrob.render.run_graph import NoRun
from pgasrob.render.verdict_json import Result
from pgasrob.render.witness_file import read_results
from tests.render.diagram.test_model import event, result_of, run, with_runs
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

ROBUST = "memory x; process { mem[x] <- 1; }"
FAULT = "register r; process { r <- 1 / r; }"
FAILING = "memory x; process { mem[x] <- 1; assert(0); }"
ASCII = "".join(map(chr, range(32, 127)))
NASTY = (
    "1. x", "- a", "# h", "end", "style a:#f9f;", "classDef x:y#z;", "a[0](x)", "[link](http://x.y)", "*b* _i_ `c`",
    "%%{init: {}}%%", "<b>&lt;&amp;</b>", "a;b#35;c#quot;", "===", "fa:fa-car", "graph TD; subgraph",
    "\"q\" 'q' \\n \\", "~~~ $x$ $$", "é → 中 😀 ﬂ°°35¶ß", "    indented", "x|y {{}} {0}", "a\nb\tc\x00\x1b[31m",
    "?` !` -- --- << >> ,,", ASCII,
)  # fmt: skip
"""Commands with what some format has a meaning for."""


def of_witness(file: str, witness: Any) -> Result:
    """A result that has a run and nothing else."""
    made: dict[str, Any] = {
        "schema": 1, "file": file, "program": None, "nodes": witness["nodes"], "engine": "attack",
        "verdict": "not robust", "reason": None, "assertions": None, "deadlock": None, "communicates": True,
        "stats": {"states": 1, "transitions": 1, "seconds": 0.0, "sc_states": 1}, "witness": witness,
        "assertion_run": None, "deadlock_run": None, "errors": [],
    }  # fmt: skip
    return made  # type: ignore[return-value]


def nasty() -> Result:
    """A run whose commands, file, cells and registers have what has to be escaped somewhere."""
    result = deepcopy(result_of(ONE_TO_ONE))
    witness: Any = result["witness"]
    first = witness["computation"][0]
    witness["computation"] = [
        {**first, "operation": place, "command": text, "register": {"name": text[:20], "before": 0, "after": 1}}
        for place, text in enumerate(NASTY)
    ]
    witness["cycle"] = [{"from": place, "to": (place + 1) % 3, "relation": "po"} for place in range(3)]
    witness["happens_before"] = [{"from": place, "to": place + 1, "relation": "cf"} for place in range(len(NASTY) - 1)]
    witness["sequential"] = None
    result["file"] = 'odd "#;%_é 中&.c'
    return result


def test_the_endings() -> None:
    assert list(FORMATS) == [".svg", ".html", ".dot", ".mmd", ".tex", ".json", ".sarif", ".txt"]
    assert [ending for ending, each in FORMATS.items() if each.needs_run] == [".svg", ".dot", ".mmd", ".tex"]
    assert [ending for ending, each in FORMATS.items() if each.holds_many] == [".json", ".sarif", ".txt"]
    assert format_of("a.b/run.TEX") is FORMATS[".tex"]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("run", "has no ending"),
        ("run.svgg", "did you mean `.svg`?"),
        ("run.gv", "did you mean `.dot`?"),
        ("run.jsonl", "did you mean `.json`?"),
        ("run.md", "did you mean `.mmd`?"),
        ("run.PDF", "write .svg or .tex"),
        ("run.xyzzy", ".sarif, .txt"),
    ],
)
def test_an_unknown_ending_lists_those_there_are(path: str, hint: str) -> None:
    with pytest.raises(UnknownFormat) as error:
        format_of(path)
    assert hint in str(error.value)
    assert ", ".join(FORMATS) in str(error.value)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    "program", [ONE_TO_ONE, DEADLOCK, FAULT, FAILING], ids=["violation", "deadlock", "fault", "false"]
)
def test_every_kind_of_run_in_every_format(ending: str, program: str, tmp_path: Path) -> None:
    result = result_of(program, 3 if program == DEADLOCK else 2)
    write([result], str(tmp_path / f"run{ending}"))
    text = (tmp_path / f"run{ending}").read_text(encoding="utf-8")
    assert text.endswith("\n") or ending == ".html"
    assert "example.pgas" in text or "example" in text


@pytest.mark.parametrize("ending", FORMATS)
def test_without_a_run(ending: str) -> None:
    result = result_of(ROBUST)
    assert FORMATS[ending].can_show(result) is not FORMATS[ending].needs_run
    if ending in (".dot", ".mmd", ".tex"):
        with pytest.raises(NoRun):
            FORMATS[ending].text([result])
    elif ending != ".svg":
        assert FORMATS[ending].text([result])


def test_several_results_in_a_file() -> None:
    both = [result_of(ROBUST), result_of(ONE_TO_ONE)]
    assert [json.loads(line) for line in FORMATS[".json"].text(both).splitlines()] == list(map(in_json, both))
    assert len(json.loads(FORMATS[".sarif"].text(both))["runs"][0]["results"]) == 1
    report = FORMATS[".txt"].text(both)
    assert "example.pgas: robust" in report and "example.pgas: not robust" in report
    assert "\x1b" not in report
    assert 80 < max(map(len, report.splitlines())) <= 100


def test_every_run_of_the_corpus() -> None:
    runs = with_runs()
    assert len(runs) > 30
    for file, witness in runs:
        result = of_witness(file, witness)
        for ending in (".dot", ".mmd", ".tex", ".sarif", ".txt"):
            FORMATS[ending].text([result]).encode()
        assert read_results(FORMATS[".json"].text([result]).encode()) == [result]


@pytest.mark.parametrize("ending", FORMATS)
def test_nasty_texts(ending: str) -> None:
    text = FORMATS[ending].text([nasty()])
    text.encode()
    if ending not in (".json", ".sarif"):
        assert not [char for char in text if not char.isprintable() and char not in "\n\u00a0\u200b"]


# Writing


def folding() -> Result:
    """A run of six events, in which the cycle passes the step of a write and a store."""
    cycle = [{"from": 2, "to": 5, "relation": "cf"}, {"from": 5, "to": 2, "relation": "cf"}]
    events = [
        event("assign", 0, 0, command="alpha"),
        event("write", 0, 1),
        event("popb", 0, 1, (1, 0)),
        event("assign", 1, 0, command="beta"),
        event("assign", 0, 2, command="gamma"),
        event("store", 1, 1, (1, 0)),
    ]
    return of_witness("five.pgas", {**run(events, 2, [(0, 1, "po"), (1, 2, "id"), (2, 5, "cf")]), "cycle": cycle})


@pytest.mark.parametrize("ending", FORMATS)
def test_what_the_cycle_does_not_pass_is_folded_in_pictures(ending: str) -> None:
    format_ = FORMATS[ending]
    whole, folded = format_.text([folding()]), format_.text([folding()], cycle_only=True)
    if not format_.draws:
        assert folded == whole
        return
    for told in ("steps 1, 4: 2 events of ranks 0–1", "step 5: 1 event of rank 0"):
        escapes = {"{}": "", "~": " ", "#58;": ":", "0-1": "0–1"}
        texts = [reduce(lambda text, pair: text.replace(*pair), escapes.items(), each) for each in (whole, folded)]
        assert [told in text for text in texts] == [ending == ".html", True]  # the page has both drawings
    # The page lets each step be gone to.
    assert [command in folded for command in ("alpha", "beta", "gamma")] == [ending == ".html"] * 3
