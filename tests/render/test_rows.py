"""The rows of the table of a run: nothing is lost, the cycle keeps its numbers, C is told of in C."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render import summary, words
from pgasrob.render.lines import plain
from pgasrob.render.result_report import report
from pgasrob.render.rows import every_event, in_short
from pgasrob.render.run_json import Witness
from pgasrob.render.run_svg import to_svg
from pgasrob.render.sarif import to_sarif
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.load import load
from tests.render.test_diagnosis_text import NOT_ROBUST, PROGRAMS
from tests.support import sampled

INTERNAL = re.compile(
    r"\bpop[abcd]\b|\bupdate_from\b|\bawait_add\b|\bresult_|\bt(?:_\d+)?(?:: | stays )-?\d|"
    r"issues the (?:put|write|read|update)\b|τ|mpi_world|gasnet_barrier_flag|\bwin0_"
)
"""What no user of an API has written."""


def is_shown_access(event: Any) -> bool:
    return event["address"] is not None and not words.is_hidden(event["address"])


def run_of(name: str) -> Witness:
    witness = to_json(check(load(PROGRAMS / name)))["witness"]
    assert witness is not None
    return witness


SEVERAL = PROGRAMS / "c/mpi/histogram_owners_no_flush.c"
"""One of several accesses of a line is on the cycle."""


@pytest.mark.parametrize("path", sorted({*sampled(NOT_ROBUST, 20), SEVERAL}), ids=lambda path: path.name)
def test_rows_are_the_run(path: Path) -> None:
    result = to_json(check(load(path)))
    witness = result["witness"]
    assert witness is not None and witness["cycle"]
    events, cycle = witness["computation"], words.cycle_steps(witness)
    ends = [(edge["from"], edge["to"]) for edge in witness["cycle"] if edge["relation"] == "cf"]
    conflicts = {place for both in ends for place in both}
    for rows in (every_event(witness), in_short(witness)):
        assert [place for row in rows for place in row.places] == list(range(len(events)))
        for row in rows:
            kinds = {events[place]["event"] for place in row.places}
            on_cycle = cycle.intersection(row.places)
            assert len(on_cycle) < 2 or {events[place]["event"] for place in on_cycle} == {"barrier"}
            if not row.folded:
                assert len({events[place]["rank"] for place in row.places}) == 1 or "barrier" in kinds
                calls = {(events[place]["rank"], events[place].get("piece", place)) for place in row.places}
                assert len(calls) == len({rank for rank, _ in calls})
            if any(is_shown_access(events[place]) for place in conflicts.intersection(row.places)):
                assert sum(is_shown_access(events[place]) for place in row.places) == 1
    folded = {place for row in in_short(witness) if row.folded for place in row.places}
    assert folded.isdisjoint(cycle)
    for late in witness["late"]:
        assert folded.isdisjoint({late["issue"], late["step"], late["ahead"], late["next"], *late["between"]})
    if path.suffix == ".c":
        told = [plain(report(result)), plain(report(result, full=True)).replace("τ", ""), to_sarif([result])]
        for text in told:
            shown = text.replace("printf", "").splitlines()
            assert not [line for line in shown if INTERNAL.search(line)]
        assert not re.search(r">\s*(pop[abcd]|update_from)\b", to_svg(result))


def test_an_operation_is_a_row_however_many_cells_it_has() -> None:
    """And its access on the cycle has a row for itself."""
    rows = plain(report(to_json(check(load(PROGRAMS / "c/openshmem/message_passing_no_fence.c"))), 120))
    assert "  1-2 │ 16  source[2] = {7, 8}  source[0..1]@0: 0 -> {7, 8} " in rows
    assert "  3-5 │*17  shmem_long_put(data, source, 2, 1) " in rows
    assert "reads source[0..1]@0 = {7, 8}; data[1]@1: 0 -> 8 " in rows
    assert "   10 │*17  arrives: data[0]@1: 0 -> 7 (of step 3)" in rows


def test_what_the_cycle_does_not_need_is_folded() -> None:
    result = to_json(check(load(PROGRAMS / "c/openshmem/bucket_sort_sync.c"), effect=False))
    short, full = plain(report(result)), plain(report(result, full=True))
    assert re.search(r"^ +1-50 │ 0 1 2 3 │ \.\.\. 50 events of 4 ranks in lines 38-79$", short, re.MULTILINE)
    assert len(short.splitlines()) < 50 < 400 < len(full.splitlines())
    assert "--full shows them" in short and "--full" not in full and "..." not in full.split("id one command)")[0]


def test_a_fold_says_whose_events_it_has() -> None:
    events: list[Any] = [{"rank": 0, "line": 3}, {"rank": 0, "line": 5}, {"rank": 2, "line": 4}]
    assert summary.folded(events[:2]) == "2 events in lines 3-5"
    assert summary.folded_of_ranks(events) == "2 events of rank 0 in lines 3-5, 1 of rank 2 in line 4"


def test_a_run_without_a_cycle_is_not_folded() -> None:
    witness = run_of("c/gaspi/gaspi_poll_flag.c")
    assert any(row.folded for row in in_short(witness))
    uncut: Any = {**witness, "cycle": None, "late": []}
    assert not any(row.folded for row in in_short(uncut))


READS = """
#include <shmem.h>
#include <stdio.h>
int x, y;
int main(void) {
    int t;
    shmem_init();
    if (shmem_my_pe() == 0) { shmem_int_p(&x, 1, 1); shmem_int_p(&y, 1, 1); }
    else { printf("%d\\n", y); t = x; if (t != 1) printf("late\\n"); }
    return 0;
}
"""


def test_registers_that_are_no_variables_are_left_out_and_variables_are_not() -> None:
    """A variable may have the name that another register would have got."""
    program = parse_c(READS)
    witness = to_json(check(program))["witness"]
    assert witness is not None
    assert witness["temporaries"] == sorted(set(program.program(2).registers) - {"t"}) != []
    changes = [event["register"] for event in witness["computation"] if event["register"]]
    assert {change["name"] for change in changes if not change.get("temporary")} == {"t"}
    assert {change["name"] for change in changes if change.get("temporary")} <= set(witness["temporaries"])
    assert {change["variable"] for change in changes if "variable" in change} == set()
    effects = [effect for event in witness["computation"] for effect in words.effects(event)]
    assert "t stays 0" in effects and "t: 0 -> 1" not in effects and not any("t_2" in effect for effect in effects)


SCOPES = """
#include <shmem.h>
#include <stdio.h>
int x, y;
int got(int *from) { int it = *from; if (it == 7) printf("seven"); return it; }
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) { shmem_int_p(&x, 1, 1); shmem_int_p(&y, 1, 1); }
    else { int it = got(&y); { int it = got(&x); printf("%d\\n", it); } printf("%d\\n", it); }
    return 0;
}
"""


def test_variables_have_the_names_of_the_source() -> None:
    """Two of one name, and those of functions, are different registers."""
    program = parse_c(SCOPES)
    witness = to_json(check(program))["witness"]
    assert witness is not None
    changes = [event["register"] for event in witness["computation"] if event["register"]]
    assert {words.variable(change) for change in changes if not change.get("temporary")} == {"it"}
    assert any(change["name"] != "it" for change in changes if not change.get("temporary"))


def event(kind: str, cell: str = "", read: int | None = None, change: tuple[int, int] | None = None) -> Any:
    name, _, rank = cell.partition("@")
    return {
        "event": kind,
        "address": {"name": name, "rank": int(rank)} if cell else None,
        "read": read,
        "written": None if change is None else {"cell": cell, "before": change[0], "after": change[1]},
        "register": None,
        "holds": None,
    }


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([event("load", "a[1]@0", 5), event("load", "a[0]@0", 5)], ["reads a[0..1]@0 = 5"]),
        ([event("load", "a[1]@0", 5), event("load", "a[2]@0", 6)], ["reads a[1..2]@0 = {5, 6}"]),
        ([event("popb", "a[0]@1", 1, (0, 1)), event("popb", "a[2]@1", 1, (0, 1))], ["a[0,2]@1: 0 -> 1"]),
        ([event("popb", f"a[{2 * i}]@1", 1, (0, 0)) for i in range(5)], ["5 cells of a@1 stay 0"]),
        ([event("store", "x@0", None, (0, 1)), event("store", "x@0", None, (1, 2))], ["x@0: 0 -> 2"]),
        ([event("popa", "a[0]@0", 1), event("popa", "a[0]@1", 1)], ["a[0]@0 = 1", "a[0]@1 = 1"]),
        ([event("load", "x@0", 1), event("load", "x@0", 2)], ["reads x@0 = 1, then 2"]),
        ([event("load", f"a[{i}]@0", i) for i in range(5)], ["reads a[0..4]@0"]),
        ([event("store", f"a[{1 - i}]@0", None, (0, 7 + i)) for i in range(2)], ["a[0..1]@0: 0 -> {8, 7}"]),
        ([event("store", f"a[{i}]@0", None, (i, i)) for i in range(2)], ["a[0..1]@0 stay {0, 1}"]),
        ([event("store", f"a[{i}]@0", None, (0, i)) for i in range(5)], ["writes a[0..4]@0"]),
        ([event("popb", f"a[{i}]@0", None, (0, i)) for i in range(5)], ["a[0..4]@0"]),
    ],
)
def test_several_events_in_few_words(events: list[Any], told: list[str]) -> None:
    assert summary.effects(events) == told
