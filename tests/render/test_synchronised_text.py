"""Headlines and lines about synchronisation: in reports, in short, in tables; from programs in C and .pgas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.render import synchronised_json, synchronised_text
from pgasrob.render.baseline import Baseline
from pgasrob.render.brief import brief
from pgasrob.render.explorer import to_html
from pgasrob.render.lines import plain
from pgasrob.render.result_report import report
from pgasrob.render.results import short
from pgasrob.render.sarif import findings, notifications, to_sarif
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.render.words import race_runs
from pgasrob.robustness.question import Question, Synchronisation
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import LINES, LineName, Verdict

ANSWERS = Path(__file__).parents[1] / "frontends/answers"
NOT_ROBUST = (Path(__file__).parents[2] / "programs/c/mpi/request_wait.c").read_text()
STUCK = "nodes 2; memory x; process 0 {\n  await(mem[x] == 1); assert(me == 1);\n} process 1 { skip; }"
FAILS = "nodes 2; memory x; process {\n  mem[x] <- 1; assert(me == 0);\n}"
BOTH = "nodes 3; memory x; process 0 { await(mem[x] == 1); } process 1 { assert(0); } process 2 { skip; }"
GOOD = "nodes 2; memory x; process { mem[x] <- 1; }"
LATE = """nodes 2; memory x, y = 1; register r; queue q;
process 0 { put(y, 1, x, q); barrier; } process 1 { barrier; r <- mem[x]; assert(0); }"""
RACE = """
nodes 2; memory x, y; register r; queue q;
process 0 {
  mem[x] <- 1;
}
process 1 {
  read(y, 0, x, q); wait(q); r <- mem[y];
}
"""


def verdict(text: str, lines: tuple[LineName, ...] | None = None) -> Verdict:
    program = parse_c(text, "p.c") if "#include" in text else parse(text, "p.pgas")
    return about_robustness(Session(Question(program)), Synchronisation(lines))


def result(text: str, lines: tuple[LineName, ...] | None = None) -> Result:
    return to_json(verdict(text, lines))


def example(name: str) -> str:
    return (ANSWERS / name).read_text()


def headline(found: Result) -> str:
    return "".join(text for text, _ in synchronised_text.headline(found))


@pytest.mark.parametrize(
    ("text", "lines", "expected"),
    [
        (GOOD, None, "robust on 2 nodes"),
        (GOOD, LINES, "correctly synchronised on 2 nodes"),
        (GOOD, ("progress", "races"), "no deadlock, no race that changes the result on 2 nodes"),
        (STUCK, ("robust",), "robust on 2 nodes"),
        (STUCK, ("progress",), "1 deadlock on 2 nodes"),
        (STUCK, LINES, "not correctly synchronised on 2 nodes: 1 deadlock"),
        (FAILS, None, "robust on 2 nodes, but the assertion in line 2 fails in an SC run"),
        (BOTH, None, "robust on 3 nodes, but with 1 deadlock and 1 failing assertion"),
        (BOTH, LINES, "not correctly synchronised on 3 nodes: 1 deadlock, 1 failing assertion"),
        (LATE, None, "not robust on 2 nodes, and the assertion in line 2 fails in an SC run"),
        (LATE, LINES, "not correctly synchronised on 2 nodes: 1 failing assertion, not robust"),
    ],
)
def test_the_headline(text: str, lines: tuple[LineName, ...] | None, expected: str) -> None:
    assert headline(result(text, lines)) == expected


def test_a_deadlock_is_in_the_headline_with_rank_and_line() -> None:
    found = headline(result(STUCK))
    assert found == ("robust on 2 nodes, but every run ends in a deadlock: rank 0 waits in line 2 (await(mem[x] == 1))")
    assert short(verdict(STUCK)) == "<Verdict p.pgas: robust on 2 nodes, but with 1 deadlock>"


def test_c_is_asked_for_all_lines_and_the_report_has_them() -> None:
    found = result(example("matters/shmem_lost_update.c"))
    assert found["verdict"] == "robust"
    lines = plain(report(found)).splitlines()
    assert lines[0] == "p.c: not correctly synchronised on 2 nodes: 1 race that changes the result"
    assert lines[1:4] == [
        "  ok   legal: every call is allowed where it stands",
        "  ok   progress: no run on the network gets stuck",
        "  ok   robust: every run on the network looks like a sequentially consistent",
    ]
    text = " ".join(" ".join(lines).split())
    assert "bad races: line 15 races with itself for counter of rank 0" in text
    assert "what rank 0 reads of counter@0 in line 19 is 2 or 1; counter@0 at the end is 2 or 1" in text
    first, other = race_runs(found)
    assert [run["shows"] for run in (first, other)] == ["order", "order"]
    for run in (first, other):  # the two accesses are marked, and come one after the other
        assert [run["computation"][place]["line"] for place in run.get("marked", [])] == [15, 15]
    assert text.count("* marks the two accesses that race.") == 2


def test_a_race_that_changes_nothing_is_a_note() -> None:
    found = result(example("harmless/shmem_same_flag.c"))
    assert headline(found) == "correctly synchronised on 3 nodes"
    assert "races: none that matters; 1 race changes nothing in how SC runs end" in [
        text for text, _ in synchronised_text.sentences(found)
    ]
    answer, note = brief(found)
    assert answer == "p.c: correctly synchronised on 3 nodes"
    assert note.startswith(
        "p.c:13:9: note: race on 3 nodes that changes nothing: line 13 races with itself for done of rank 0"
    )
    assert [(each["ruleId"], each["level"]) for each in findings(found)] == [("race", "note")]
    assert synchronised_text.of_sc_runs(found) == ("ok", "good")


def test_a_race_that_matters_is_an_error_with_both_runs() -> None:
    found = result(example("matters/mpi_store_after_post.c"))
    [line] = brief(found)
    assert line.startswith("p.c:23:9: error: race on 2 nodes: lines 23 and 29 race for mine[0] of rank 0")
    [finding] = findings(found)
    assert (finding["ruleId"], finding["level"], len(finding["codeFlows"])) == ("race-that-matters", "error", 2)
    assert "mine[0]@0 at the end is 1 or 7" in finding["message"]["text"]
    assert synchronised_text.of_sc_runs(found) == ("race", "bad")
    known = Baseline(to_sarif([found])).without_known(found)
    assert [line["answer"] for line in known["synchronised"]["lines"]] == ["yes"] * 4  # type: ignore[index]


def test_what_does_not_count_is_a_warning() -> None:
    assert [each["level"] for each in findings(result(STUCK))] == ["error"]
    assert [each["level"] for each in findings(result(STUCK, ("robust",)))] == ["warning"]
    assert [each["level"] for each in findings(result(NOT_ROBUST))] == ["error"]
    assert [each["level"] for each in findings(result(NOT_ROBUST, ("races",)))] == ["warning"]
    assert [line.split(": ")[1] for line in brief(result(FAILS, ("robust",)))] == ["robust on 2 nodes", "warning"]
    assert synchronised_text.of_sc_runs(result(BOTH, ("robust",))) == ("stuck, fails", "bad")


def test_races_of_the_core_language_are_looked_at_where_they_are_asked() -> None:
    assert "consequences" not in result(RACE)
    found = result(RACE, ("robust", "races"))
    assert headline(found) == "robust on 2 nodes, but 1 race changes the result"
    assert found["consequences"]["answer"] == "matters"


def with_open_races(found: Result) -> Result:
    """``found`` as if a limit had left its races open."""
    lines: Any = [
        {**line, "answer": "unknown", "found": 0} if line["line"] == "races" else line
        for line in (found["synchronised"] or {"lines": []})["lines"]
    ]
    made: Any = {**found["synchronised"], "lines": lines, "answer": "unknown"}  # type: ignore[dict-item]
    consequences: Any = {**found["consequences"], "answer": "unknown", "reason": "there is no end", "harmless": []}
    return {**found, "synchronised": made, "consequences": consequences}


def test_what_is_left_open_is_said_with_its_reason() -> None:
    found = with_open_races(result(example("harmless/shmem_same_flag.c")))
    assert headline(found) == "not known to be correctly synchronised on 3 nodes: races could not be decided"
    assert "races: could not be decided: there is no end" in [text for text, _ in synchronised_text.sentences(found)]
    assert [*brief(found)] == [
        "p.c: robust on 3 nodes",
        "p.c: warning: races could not be decided on 3 nodes: there is no end",
    ]
    [note] = notifications(found)
    assert note["message"]["text"] == "races could not be decided on 3 nodes: there is no end"
    assert synchronised_text.of_sc_runs(found) == ("race?", "open")


def test_why_the_run_shown_is_long_is_no_reason_why_something_else_is_open() -> None:
    found = result(NOT_ROBUST)
    lines: Any = {line["line"]: line for line in found["synchronised"]["lines"]}  # type: ignore[index]
    lines["progress"]["answer"] = "unknown"
    late: Result = {**found, "reason": "the run may be longer than it has to be"}
    assert "progress: could not be decided" in [text for text, _ in synchronised_text.sentences(late)]


def test_a_bad_line_beside_an_open_one() -> None:
    found = with_open_races(result(STUCK, LINES))
    bad: Any = {**found["synchronised"], "answer": "no"}  # type: ignore[dict-item]
    assert synchronised_json.summary(bad) == "not correctly synchronised: 1 deadlock; races could not be decided"


SOME = """nodes 2; memory x, y;
process 0 { choose { mem[y] <- 1; } or { mem[y] <- 2; await(mem[x] == 1); } } process 1 { skip; }"""


def test_it_is_said_where_every_run_gets_stuck_and_where_some_do() -> None:
    assert ", but a run ends in a deadlock: rank 0 waits in line 2" in headline(result(SOME))
    assert result(STUCK).get("always_stuck") is True and result(SOME).get("always_stuck") is False


def test_the_page_of_a_run_has_both_orders_and_the_colour_of_what_is_wrong() -> None:
    page = to_html(result(example("matters/mpi_store_after_post.c")))
    assert '<span class="verdict not-robust">not correctly synchronised on 2 nodes: 1 race that changes' in page
    assert {page.count(f'class="drawing" data-run="{run}"') for run in (0, 1)} == {4}
    assert page.count('class="drawing"') == 8  # two runs, each in two views and two sizes
    assert "An SC run in which rank 0 writes mine[0]@0 first" in page


def test_of_a_loop_the_round_is_marked_in_which_the_accesses_race() -> None:
    text = """nodes 2; memory x, y; register r, s; queue q;
process 0 { while (r < 2) { mem[x] <- r + 1; barrier; r <- r + 1; } }
process 1 { barrier; read(y, 0, x, q); wait(q); s <- mem[y]; barrier; }"""
    found = result(text, ("robust", "races"))
    [race] = found["consequences"]["matters"]
    before = len(race["race"]["computation"])
    marked = [run.get("marked", []) for run in race["runs"]]
    assert before and all(len(places) == 2 and min(places) >= before for places in marked)
