"""What is said and drawn of races, from the JSON object alone."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.render.brief import brief
from pgasrob.render.lines import ASCII, plain
from pgasrob.render.one_race_json import with_accesses
from pgasrob.render.output_files import FORMATS, drawable
from pgasrob.render.races_json import counted, is_about_races, races_to_json
from pgasrob.render.races_text import race_report
from pgasrob.render.rows import in_short
from pgasrob.render.source_places import dumps, with_lines
from pgasrob.render.verdict_json import RaceResult
from pgasrob.render.witness_file import BadWitnessFile, read_results

REMOTE = """// A put that nobody waits for.
program late;
nodes 2;
memory x = 7, y;
register r;
queue q;
process 0 { write(x, 1, y, q); }
process 1 { r <- mem[y]; }
"""
BUFFER = "memory x, y; queue q;\nprocess 0 {\n  write(x, 1, y, q);\n  mem[x] <- 1;\n}\nprocess { skip; }"
THREE = """memory x, y; register r; queue q;
process 0 { write(x, 1, y, q);
  mem[x] <- 1; }
process { mem[y] <- 2;
  r <- mem[y];
  mem[x] <- 3; }"""
QUIET = "memory x, y; queue q;\nprocess 0 { write(x, 1, y, q); wait(q); barrier; }\nprocess { barrier; mem[y] <- 1; }"
FAULT = "memory x; register r;\nprocess { r <- 1 / r; }"
AWAIT = "memory x, y; queue q;\nprocess 0 { write(x, 1, y, q); }\nprocess { await(mem[y] == 0); }"
C = """#include <shmem.h>
#include <stdio.h>
static long data;
int main(void)
{
    long one = 1;
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_long_put(&data, &one, 1, 1);
    else
        printf("%ld\\n", data);
    shmem_finalize();
    return 0;
}
"""


@cache
def _result(text: str, robustness: bool, strict: bool) -> str:
    program = parse_c(text, "x.c") if "#include" in text else parse(text, "x.pgas")
    verdict = pgasrob.race(program, 2, strict, True)
    asked = pgasrob.check(program, 2, effect=False) if robustness else None
    return dumps(races_to_json(replace(verdict, robustness=asked), True))


def result_of(text: str, robustness: bool = True, strict: bool = False) -> RaceResult:
    found: RaceResult = with_lines(json.loads(_result(text, robustness, strict)))
    found["stats"]["seconds"] = 0.01
    return found


def report_of(text: str, width: int = 80, **options: Any) -> str:
    return plain(race_report(result_of(text), width, ASCII, **options))


REPORT = """\
x.pgas: race on 2 nodes: 1 pair of lines
  search for races: 10 states, 0.01 s
  Lines 7 and 8 race for y of rank 1 (remote memory):
      7 | process 0 { write(x, 1, y, q); }
        |             ^^^^^^^^^^^^^^^^^
        | the write of rank 0 arrives at y@1
      8 | process 1 { r <- mem[y]; }
        |             ^^^^^^^^^^^
        | rank 1 loads y@1
  The program is robust all the same. Every run on the network looks like a
  sequentially consistent (SC) run, in which one of the two comes first.

A run up to the point where either access can come next:
  Initially x = 7 on every rank; all else is 0.
 step | rank 0                         | rank 1
------+--------------------------------+-------------------------------
    1 | 7  write(x, 1, y, q)           |
    2 | 7  popa x@0 = 7 (of step 1)    |
 next |*7  popb writes y@1 (of step 1) |
 next |                                |*8  r <- mem[y]  reads y@1
  * marks the two accesses that race. popa fetches the value of a read or write
  from its source, popb puts it at its destination. y@1 is y of rank 1.
"""


def test_a_report_has_the_lines_the_run_and_robustness_beside_it() -> None:
    result = result_of(REMOTE)
    result["stats"]["states"] = 10
    assert plain(race_report(result, 80, ASCII)) == REPORT


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("text", [REMOTE, BUFFER, THREE, QUIET, C, FAULT])
def test_reports_keep_to_the_width(text: str, width: int) -> None:
    source = max(map(len, text.split("\n"))) + 11
    assert max(map(len, report_of(text, width).split("\n"))) <= max(width, source)


def test_every_pair_is_told_and_a_run_to_each_if_that_is_asked_for() -> None:
    result = result_of(THREE)
    assert [race["lines"] for race in result["races"]] == [[2, 3], [2, 4], [2, 5]]
    assert [race["kind"] for race in result["races"]] == ["local buffer", "remote", "remote"]
    told = report_of(THREE)
    assert "race on 2 nodes: 3 pairs of lines" in told
    assert told.count(" race for ") == 3
    assert told.count("A run up to the point") == 1
    assert report_of(THREE, 80, every_run=True).count("A run up to the point") == 3
    assert "not robust" in told and "`pgasrob check x.pgas -n 2` shows the run." in told.replace("\n  ", " ")


def test_no_race_says_what_it_rests_on() -> None:
    told = report_of(QUIET)
    assert told.startswith("x.pgas: no race on 2 nodes\n")
    assert "The program is robust, too." in told
    assert "--strict: they are" in told and "Rests on the general assumptions" in told
    assert "rests on (`pgasrob" in report_of(QUIET, list_assumptions=True)


def test_an_access_that_is_next_has_a_row_of_its_own() -> None:
    """Also where other steps of its call have come before."""
    text = (
        C.replace("data;", "data[2];")
        .replace("long one = 1", "long one[2] = {1, 1}")
        .replace('", data)', '", data[1])')
    )
    (race,) = result_of(text.replace("put(&data, &one, 1, 1)", "put(data, one, 2, 1)"))["races"]
    run = with_accesses(race)
    assert sum(event["event"] == "popb" for event in race["computation"]) == 1
    assert [list(row.places) for row in in_short(run)[-2:]] == [[len(race["computation"]) + place] for place in (0, 1)]


def test_strict_counts_a_wait_and_its_value() -> None:
    assert "--strict: they are" in report_of(AWAIT)
    strictly = result_of(QUIET, strict=True)
    assert strictly["verdict"] == "no race" and "--strict" not in plain(race_report(strictly, 80, ASCII))
    assert result_of(AWAIT)["verdict"] == "no race"
    strict = result_of(AWAIT, strict=True)
    assert (strict["verdict"], strict["strict"]) == ("race", True)
    assert {access["atomic"] for access in strict["races"][0]["accesses"]} != {None}
    assert "(atomic, int)" in plain(race_report(strict, 80, ASCII))


def test_a_fault_is_shown_with_its_run() -> None:
    result = result_of(FAULT)
    assert (result["verdict"], result["races"], counted(result)) == ("error", [], "error")
    told = report_of(FAULT)
    assert (
        "x.pgas:2:11: error[PG040]: rank 0: division by zero" in told and "The SC run that leads to the fault" in told
    )
    assert list(brief(result)) == ["x.pgas:2:11: error[PG040]: rank 0: division by zero: 1 / 0"]


def test_a_line_for_each_race() -> None:
    assert list(brief(result_of(REMOTE))) == [
        "x.pgas:7:13: warning: race on 2 nodes: lines 7 and 8 race for y of rank 1 (remote memory): the write of rank "
        "0 arrives at y@1, and rank 1 loads y@1, in either order"
    ]
    assert list(brief(result_of(QUIET))) == ["x.pgas: no race on 2 nodes; robust"]
    unexpected: RaceResult = {**result_of(QUIET), "expected": "2 pairs", "as_expected": False}
    assert list(brief(unexpected)) == ["x.pgas: no race on 2 nodes; robust (expected 2 pairs, found none)"]
    assert len(list(brief(result_of(THREE)))) == 3


def test_sarif_has_both_accesses_and_the_way_there() -> None:
    log = json.loads(FORMATS[".sarif"].text([result_of(REMOTE), result_of(THREE), result_of(QUIET)], False))
    found = log["runs"][0]["results"]
    assert [each["ruleId"] for each in found] == ["race"] * 4
    assert [each["level"] for each in found] == ["warning", "error", "error", "error"]
    assert found[0]["properties"]["robustness"] == "robust"
    regions = [each["physicalLocation"]["region"]["startLine"] for each in found[0]["relatedLocations"]]
    assert regions == [7, 8]
    steps = found[0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["importance"] for step in steps] == ["important", "important", "essential", "essential"]
    assert len({each["partialFingerprints"]["commands/v2"] for each in found[1:]}) == 3


@pytest.mark.parametrize("text", [REMOTE, BUFFER, THREE, QUIET, C, FAULT])
def test_results_are_read_back(text: str) -> None:
    result = result_of(text)
    (again,) = read_results(FORMATS[".json"].text([result], False).encode())
    assert again == result
    assert is_about_races(again)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda result: result["races"][0]["accesses"].pop(),
            "races[0].accesses: two accesses are needed, and here are 1",
        ),
        (lambda result: result["races"][0]["accesses"][0].pop("access"), "races[0].accesses[0]: it is missing"),
        (lambda result: result["races"][0]["accesses"][0].update(operation=5), "has issued no operation 5 before"),
        (lambda result: result["races"][0]["accesses"][1].update(rank=2), "an integer from 0 to 1 is needed"),
        (lambda result: result.update(races=[]), "a race is needed where the verdict is race"),
        (lambda result: result["races"][0].update(kind="far"), 'races[0].kind: "local buffer" or "remote" or "local"'),
    ],
)
def test_what_is_no_race_is_refused(change: Any, message: str) -> None:
    result = result_of(REMOTE)
    change(result)
    with pytest.raises(BadWitnessFile) as caught:
        read_results(json.dumps(result).encode())
    assert message in str(caught.value)


def test_every_picture_marks_both_accesses() -> None:
    result = result_of(REMOTE)
    svg = FORMATS[".svg"].text([result], False)
    assert svg.count('class="event step cycle"') == 1 and svg.count('class="event issued cycle"') == 1
    assert svg.count('class="edge race"') == 1
    assert "either comes first" in svg and "heavy: an access that races" in svg
    assert FORMATS[".dot"].text([result], False).count("penwidth=2.5") == 2
    assert "dir=both" in FORMATS[".dot"].text([result], False)
    assert "class e3,e4 cycle" in FORMATS[".mmd"].text([result], False)
    tikz = FORMATS[".tex"].text([result], False)
    assert tikz.count("[run race]") == 2  # in the legend, too
    assert drawable(result)["verdict"] == "race"  # type: ignore[comparison-overlap]


def test_the_page_tells_of_every_pair() -> None:
    page = FORMATS[".html"].text([result_of(THREE)], False)
    for lines in ("2 and 3", "2 and 4", "2 and 5"):
        assert f"Lines {lines} race for" in page
    assert "It is next here, and so is the other access: either may come first." in page
    assert "no race on 2 nodes" in FORMATS[".html"].text([result_of(QUIET)], False)


def test_jupyter_shows_races() -> None:
    verdict = pgasrob.race(parse(REMOTE, "x.pgas"), 2)
    shown = verdict._repr_html_()
    assert "Lines 7 and 8 race for y of rank 1" in shown and "<svg" in shown
    assert "<svg" in (verdict._repr_svg_() or "")
    assert pgasrob.race(parse(QUIET, "x.pgas"), 2)._repr_svg_() is None


def test_lines_of_another_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(C.replace("int main", '#include "late.h"\nint main').replace(
        "shmem_long_put(&data, &one, 1, 1)", "late(&one)"))  # fmt: skip
    (tmp_path / "late.h").write_text("static void late(long *one)\n{\n    shmem_long_put(&data, one, 1, 1);\n}\n")
    program = pgasrob.load(tmp_path / "main.c")
    result = races_to_json(pgasrob.race(program, 2), True)
    (race,) = result["races"]
    assert [str(line) for line in race["lines"]] == ["12", "late.h:3"]
    told = plain(race_report(result, 100, ASCII))
    assert "late.h:3\n" in told and "shmem_long_put(&data, one, 1, 1);" in told
    (again,) = read_results(dumps(result).encode())
    assert again == result
