"""The table of the run of a C program, and its cycle, as its programmer reads them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.declarations import LONGEST_SHOWN
from pgasrob.program.parser import parse
from pgasrob.render.lines import UNICODE, plain
from pgasrob.render.result_report import report
from pgasrob.render.run_table import table
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.robustness.load import load
from tests.render.test_diagnosis_text import PROGRAMS


@cache
def result(name: str) -> Result:
    return to_json(check(load(next((PROGRAMS / "c").glob(f"*/{name}.c")))))


def told(name: str, width: int = 120, full: bool = False) -> str:
    return plain(report(result(name), width, full=full))


def cycle(text: str) -> str:
    """The edges in one line."""
    return " ".join(text.partition("The cycle, edge by edge")[2].split())


@pytest.mark.parametrize("name", ["gaspi_lock", "gaspi_notify_other_queue", "gaspi_pipeline_plain_write"])
def test_what_takes_a_status_is_not_told_as_what_an_atomic_fetches(name: str) -> None:
    assert "result" not in told(name, full=True).partition("A run on the network")[2]


def test_what_an_atomic_returns_goes_to_its_variable() -> None:
    assert "tail@0: -1 -> 1; before: 0 -> -1" in told("mcs_lock_no_quiet")


@pytest.mark.parametrize(
    ("name", "line", "steps"),
    [
        ("histogram_sync", 19, "7"),
        ("transpose_sync", 21, "22-23"),
        ("armci_stencil_no_fence", 28, "26-27"),
        ("armci_spmv_no_wait", 77, "13-14"),
    ],
)
def test_each_call_has_its_row_however_often_its_line_is_executed(name: str, line: int, steps: str) -> None:
    rows = [each for each in told(name).splitlines() if re.search(rf"│[* ]{line}  \w+\(", each)]
    assert [each.split()[0] for each in rows] == [steps]
    assert f"│*{line}  " in rows[0]


KEPT = """
#include <shmem.h>
#include <stdio.h>
int x, y, n;
static void set(int *to) { shmem_int_p(to, 1, 1); }
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) {
        set(&n); set(&x);
        again: shmem_int_p(&x, 2, 1); shmem_int_p(&y, 1, 1);
        if (n++ < 1) goto again;
    }
    else { printf("%d\\n", y); printf("%d\\n", x); }
    return 0;
}
"""


def test_calls_from_two_places_and_turns_of_a_goto_are_different_pieces() -> None:
    witness = to_json(check(parse_c(KEPT)))["witness"]
    assert witness is not None
    issued = [each for each in witness["computation"] if each["event"] == "update" and each["rank"] == 0]
    assert len({each["piece"] for each in issued}) == len(issued) > 2
    assert len({(each["line"], each["column"]) for each in issued}) < len(issued)


@pytest.mark.parametrize(
    ("name", "call", "rows"),
    [
        ("context_barrier", "shmem_barrier_all", 1),
        ("send_after_put", "MPI_Send", 1),
        ("send_after_put", "MPI_Recv", 1),
    ],
)
def test_a_call_has_one_row(name: str, call: str, rows: int) -> None:
    lines = [each for each in told(name).splitlines() if re.search(rf"│[* ]\d+  {call}\(", each)]
    assert len(lines) == rows


APART = """
#include <shmem.h>
#include <stdio.h>
int x, y;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) { shmem_int_p(&x, 1, 1); shmem_int_p(&y, 1, 1); }
    else printf("%d %d\\n", y, x);
    return 0;
}
"""


def test_the_second_row_of_a_call_says_that_it_is() -> None:
    """Both of its accesses are on the cycle."""
    text = plain(report(to_json(check(parse_c(APART))), 120))
    assert re.search(r'\*8  printf\("%d %d\\n", y, x\)  reads y@1 = 1', text)
    assert re.search(r'\*8  printf\("%d %d\\n", y, x\) \(continued\)  reads x@1 = 0', text)


def test_what_arrives_within_a_library_is_nothing_that_is_listed() -> None:
    assert "19  arrives: dest@1: 0 -> 7 (of steps 2-5)" in told("broadcast_third_party")
    assert "28  arrives (of step 31)" in told("complete_barrier", 200)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("put_then_put_signal", "reads two[0..1]@0 = {2, 3}; body[0..1]@1: 0 -> {2, 3}"),
        ("message_passing_no_fence", "source[2] = {7, 8} source[0..1]@0: 0 -> {7, 8}"),
        ("mcs_lock_no_quiet", "21 before != NOBODY is false"),
        ("gaspi_source_reuse", "arrives: cells[1]@1: 0 -> 2; notification 0@1: 0 -> 1 (of steps 4-6)"),
    ],
)
def test_what_a_call_did_has_a_verb_and_values(name: str, shown: str) -> None:
    assert shown in " ".join(told(name, 200).split())


CONDITIONS = """
#include <shmem.h>
#include <stdio.h>
int x, y, a, b, c, d;
static void set(int to) { shmem_int_p(&d, to, 0); shmem_quiet(); }
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) { shmem_int_p(&x, 1, 1); shmem_int_p(&y, 1, 1); }
    else {
        if (!(a == 0)) set(1);
        if (b == 0 && c < 1) set(2);
        if (a) { } else set(3);
        while (b > 0) set(4);
        if (c != 0 || a <= 0) set(5); else set(6);
        printf("%d\\n", y); printf("%d\\n", x);
    }
    if (shmem_my_pe() == 2) { shmem_int_p(&a, 1, 1); shmem_int_p(&b, 1, 1); shmem_int_p(&c, 1, 1); }
    return 0;
}
"""


def test_conditions_say_whether_they_hold() -> None:
    """However the program is put together from them: all cells are 0."""
    witness = to_json(check(parse_c(CONDITIONS), 3))["witness"]
    assert witness is not None
    values: dict[str, Any] = {"a": 0, "b": 0, "c": 0}
    told = {each["command"]: each["truth"] for each in witness["computation"] if "truth" in each}
    assert list(told) == ["a == 0", "b == 0", "c < 1", "a", "b > 0", "c != 0", "a <= 0"]
    assert all(truth == bool(eval(command, values)) for command, truth in told.items())


@pytest.mark.parametrize("name", ["put_order", "signal_numbers", "accumulate_sum_and_maximum"])
def test_two_operations_of_one_name_are_told_apart_by_their_lines(name: str) -> None:
    steps = re.findall(r"step (\d+) \((.*?)\)(?=[ ,.:])", cycle(told(name)))
    words = [words for _, words in steps]
    assert len(set(words)) == len(words) > 2 and all(" in line " in each for each in words)


def test_what_reads_nothing_at_its_target_arrives_there_and_updates_nothing() -> None:
    assert "shmem_ctx_long_p of rank 0 in line 18 arrives at x@1" in cycle(told("context_barrier"))
    assert "shmem_int_atomic_add of rank 1 in line 19 updates bins[0]@0" in cycle(told("histogram_sync"))


def test_the_events_of_a_barrier_are_one_barrier() -> None:
    assert "shmem_sync_all of rank 0 in line 21) are one barrier." in cycle(told("histogram_sync"))


def test_the_legend_says_what_a_cell_of_a_rank_is() -> None:
    for name in ("histogram_sync", "put_order"):
        text = told(name)
        legend = " ".join(text.partition("* marks")[2].partition("The cycle")[0].split())
        match = re.search(r"(\S+)@(\d) is (\S+) of rank (\d)\.", legend)
        assert match and match[1] == match[3] and match[2] == match[4]
        assert f"{match[1]}@{match[2]}" in text.partition("* marks")[0]


def test_the_columns_of_a_single_column_are_named() -> None:
    lines = told("armci_stencil_no_fence").splitlines()
    (header,) = [place for place, line in enumerate(lines) if line.strip().startswith("step │ 0 1 2 3 │")]
    assert lines[header - 1].strip() == "│ rank    │"


def test_what_is_initialised_and_no_cell_is_not_said_to_be_0() -> None:
    text = told("histogram_sync")
    assert "static const int values[2][2] = {{0, 1}, {1, 0}};" in result("histogram_sync")["witness"]["source"]  # type: ignore[index]
    assert "Initially everything that is shown is 0." in text


def test_a_call_is_cut_behind_an_argument() -> None:
    commands = {each["command"] for each in result("gaspi_source_reuse")["witness"]["computation"]}  # type: ignore[index]
    cut = [command for command in commands if command.endswith(" ...")]
    assert cut and all(len(command) <= LONGEST_SHOWN and command.endswith(", ...") for command in cut)


def test_no_word_is_broken_where_a_single_column_has_room_for_it() -> None:
    assert "shmem_long_put_nbi(&column[me]," in told("transpose_sync", 100)


def test_each_rank_has_a_lane_where_there_is_room() -> None:
    source = "memory one = 1, x; register r; queue q; process { write(one, (me + 1) % nodes, x, q); r <- mem[x]; }"
    witness = to_json(check(parse(source, "sb.pgas"), 2))["witness"]
    assert witness
    wide, narrow = (plain(table(witness, width, UNICODE)).splitlines() for width in (100, 40))
    assert wide[0].split() == ["step", "│", "rank", "0", "│", "rank", "1"]
    assert narrow[1].split() == ["step", "│", "0", "1", "│"]


def test_a_single_rank_has_a_lane_however_narrow_it_is() -> None:
    source = "memory x; queue q; process { put(x, 0, x, q); mem[x] <- 1; }"
    witness = to_json(check(parse(source, "one.pgas"), 1))["witness"]
    assert witness
    assert plain(table(witness, 20, UNICODE)).splitlines()[0].split() == ["step", "│", "rank", "0"]
