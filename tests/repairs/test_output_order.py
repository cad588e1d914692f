"""Calls that keep the order in which files are used and output is seen: programs that say which calls stay.

In `seen/` a comment behind a call says whether it `stays` or `goes`, by itself; of weaker calls in its place nothing.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.outside_memory import TERMINAL
from pgasrob.program.parser import parse
from pgasrob.render.thrift_text import why_not
from pgasrob.repairs import displays
from pgasrob.repairs.output_order import OutputOrder
from pgasrob.repairs.read_again import read
from pgasrob.repairs.search import repair
from pgasrob.repairs.thrift import Thrift, thrift

SEEN = sorted((Path(__file__).parent / "seen").glob("*.c"))
STAYS, GOES = "/* stays */", "/* goes */"


def thrifty(path: Path, order: OutputOrder = "kept") -> Thrift:
    program, parse_again = read(str(path))
    assert program.nodes is not None
    return thrift(program, parse_again, (program.nodes,), output_order=order)


def left_out(found: Thrift) -> dict[str, list[bool]]:
    """Of the calls that stay, and of those that go, whether each may be left out by itself."""
    lines = found.text.splitlines()
    told: dict[str, list[bool]] = {STAYS: [], GOES: []}
    for each in found.judged:
        for mark, safe in told.items():
            if not each.saving.instead and mark in lines[each.saving.line - 1]:
                safe.append(each.is_safe)
    return told


def test_there_are_programs_enough() -> None:
    texts = [path.read_text() for path in SEEN]
    assert len(SEEN) == 40 and sum(text.count(STAYS) for text in texts) == 29
    assert sum(text.count(GOES) for text in texts) == 14


@pytest.mark.parametrize("path", SEEN, ids=lambda path: path.stem)
def test_nothing_goes_that_changes_what_is_seen(path: Path) -> None:
    found = thrifty(path)
    assert found.state in ("thrifty", "can save"), found.reason
    told, text = left_out(found), path.read_text()
    assert told == {STAYS: [False] * text.count(STAYS), GOES: [True] * text.count(GOES)}
    left = found.after or found.text
    assert left.count(STAYS) == text.count(STAYS)
    if path.stem == "two_barriers_between":
        assert left.count(GOES) == 1, "one of them has to stay"


FREE = {
    "asked_and_answered", "errors_and_results", "gaspi_log", "header_then_rows", "rows_in_turns", "rounds",
    "sent_is_printed", "what_is_printed_together", "result_before_abort", "result_before_exit", "armci_error",
    "gaspi_kill", "pipe_to_sort", "result_before_return", "value_from_a_file",
    "printed_together_by_a_function",
}  # fmt: skip
"""Programs of which all that is seen is on the terminal."""


@pytest.mark.parametrize("path", SEEN, ids=lambda path: path.stem)
def test_output_may_be_in_any_order_where_that_is_said_and_files_may_not(path: Path) -> None:
    safe = left_out(thrifty(path, "free"))[STAYS]
    assert all(safe) if path.stem in FREE else not any(safe)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("header_then_rows", "On 3 nodes the printf of rank 1 in line 15 may come before the printf of rank 0 in line "
         "13, and both use the terminal."),
        ("file_written_and_read", "On 2 nodes the fopen of rank 1 in line 21 may come before the fopen of rank 0 in "
         "line 15, and both use result.txt."),
        ("removed_last", "On 2 nodes the remove of rank 0 in line 15 may come before the fopen of rank 1 in line 13, "
         "and both use a.txt."),
        ("descriptors", "On 2 nodes the write of rank 1 in line 16 may come before the open of rank 0 in line 13, and "
         "both use a file."),
        ("result_before_return", "On 2 nodes the return of rank 0 in line 14 may come before the printf of rank 1 in "
         "line 12, and both use the terminal."),
        ("what_is_printed_together", "On 3 nodes the printf of rank 1 in line 28, which uses the terminal, may come "
         "when its rank has read other values than before."),
        ("sent_is_printed", "On 2 nodes files or output may be seen in another order on the network. The shmem_long_g "
         "of rank 1 in line 21 reads x before the shmem_long_put_nbi of rank 0 in line 16 has arrived there. Nothing "
         "before line 18 waits until the shmem_long_put_nbi is complete at its target."),
    ],
)  # fmt: skip
def test_why(name: str, why: str) -> None:
    path = Path(__file__).parent / "seen" / f"{name}.c"
    found = thrifty(path)
    lines = found.text.splitlines()
    [stays] = [each for each in found.judged if not each.saving.instead and STAYS in lines[each.saving.line - 1]]
    assert why_not(stays, found.text).startswith(why)


def test_a_limit_leaves_a_call_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "MOST_STATES", 100)
    text = """#include <shmem.h>
#include <stdio.h>
int main(void) {
  shmem_init();
  shmem_barrier_all();
  for (int i = 0; i < 20; i++) printf("%d", i);
  shmem_finalize();
}
"""
    program = parse_c(text)
    barrier = thrift(program, parse_c, (2,)).judged[0]
    assert not barrier.is_safe and barrier.tried.undecided
    assert barrier.tried.why == "on 2 nodes there are too many runs to see that files and output keep their order"
    assert thrift(program, parse_c, (2,), output_order="free").judged[0].is_safe
    quiet = text.replace("  for", "  shmem_quiet();\n  for")
    found = thrift(parse_c(quiet), parse_c, (2,))
    [left_out] = [each for each in found.judged if each.saving.call == "shmem_quiet()" and not each.saving.instead]
    assert left_out.is_safe, "SC runs are those that there were"


NOT_ROBUST_WITH_OUTPUT = """#include <shmem.h>
#include <stdio.h>
static long x, y;
int main(void) {
  static long one = 1;
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_long_put_nbi(&x, &one, 1, 1);
    printf("sent x\\n");
    shmem_quiet();
    MORE
  } else {
    printf("looking\\n");
    printf("%ld %ld\\n", shmem_long_g(&x, 1), shmem_long_g(&y, 1));
  }
  shmem_barrier_all();
  shmem_finalize();
}
"""


def test_what_cannot_be_lowered_with_its_output_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: object) -> None:
        raise SourceError([Diagnostic("PG141", "more than 2 commands", "a.c")])

    path = Path(__file__).parent / "seen" / "one_prints.c"
    monkeypatch.setattr(CProgram, "with_places", too_large)
    found = thrifty(path)
    assert found.state == "thrifty" and all(each.tried.undecided for each in found.judged)
    assert "it is not known what is seen of files and output: more than 2 commands" in found.judged[0].tried.why


@pytest.mark.parametrize(("more", "goes"), [("", True), ('printf("x is there\\n");', False)])
def test_where_the_network_shows_more_already_all_that_it_shows_is_compared(more: str, goes: bool) -> None:
    """`sent x`, `looking`, 0 is seen on the network alone; with the second line that may not come behind it."""
    text = NOT_ROBUST_WITH_OUTPUT.replace("MORE", more)
    program = parse_c(text)
    made, places = program.with_places(2, terminal=True)
    assert [each.name for each in places] == [TERMINAL]
    assert check(made, 2).verdict == "not robust" and check(program, 2).verdict == "robust"
    found = thrift(program, parse_c, (2,))
    [quiet] = [each for each in found.judged if each.saving.call == "shmem_quiet()" and not each.saving.instead]
    assert quiet.is_safe == goes, quiet.tried.why


def test_a_repair_does_not_take_order_from_output_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """A put with signal in the place of the put would set the flag before the line is printed."""
    text = """#include <shmem.h>
#include <stdio.h>
static long data;
static uint64_t flag;
int main(void) {
  static long one = 1;
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_long_put(&data, &one, 1, 1);
    printf("first\\n");
    shmem_uint64_p(&flag, 1, 1);
  } else {
    shmem_uint64_wait_until(&flag, SHMEM_CMP_EQ, 1);
    printf("%ld\\n", data);
  }
  shmem_finalize();
}
"""
    found = repair(parse_c(text), parse_c, (2,))
    assert [answer.candidates[0].text for answer in found.answers] == ["shmem_fence();"] * 2
    [rejected] = [each for each in found.rejected if "put_signal" in each.candidates[0].text]
    assert rejected.why == (
        "on 2 nodes the printf of rank 1 in line 14 may come before the printf of rank 0 in line 10, "
        "and both use the terminal"
    )
    monkeypatch.setattr(displays, "MOST_STATES", 2)
    fences = repair(parse_c(text), parse_c, (2,)).answers
    assert [answer.candidates[0].text for answer in fences] == ["shmem_fence();"] * 2, "they only add order"
    monkeypatch.undo()
    silent = text.replace('printf("first\\n");', "")
    assert any("put_signal" in each.candidates[0].text for each in repair(parse_c(silent), parse_c, (2,)).answers)


def test_the_core_language_has_no_output() -> None:
    text = "memory x; register r; process { barrier; r <- mem[x]; }"
    found = thrift(parse(text), partial(parse), (2,))
    assert found.assumptions == () and found.saved == 8
