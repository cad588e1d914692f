"""The sentences that every counterexample begins with, in the words of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render.diagnosis_text import Diagnosis
from pgasrob.robustness.late_operations import late_operations
from pgasrob.robustness.load import load
from pgasrob.robustness.verdict import Verdict
from tests.support import sampled

PROGRAMS = Path(__file__).parents[2] / "programs"
NOT_ROBUST = sorted(
    path
    for path in PROGRAMS.rglob("*")
    if path.suffix in (".pgas", ".c") and "expect: not robust" in path.read_text(encoding="utf-8")
)
INTERNAL = re.compile(r"pop[abcd]|update_from|result_|segment_|tau|[a-z]_\d+_\d+|#\d|\^\d|None")
"""What no user has written."""


def told(verdict: Verdict) -> str:
    assert verdict.witness is not None and verdict.witness.cycle is not None
    run = verdict.witness.run
    return Diagnosis(run).sentences(late_operations(run, verdict.witness.cycle)[0])


@pytest.mark.parametrize("path", sampled(NOT_ROBUST, 6), ids=lambda path: path.name)
def test_no_name_that_the_program_does_not_have(path: Path) -> None:
    sentences = told(check(load(path), effect=False))
    assert not INTERNAL.search(sentences), sentences
    first, second = re.fullmatch(r"([A-Z].*)\. (Nothing .*|.* is not done at once, .*)\.", sentences).groups()  # type: ignore[union-attr]
    lines = path.read_text(encoding="utf-8").splitlines()
    for name, line in re.findall(r"the (\w+) (?:of rank \d+ )?in line (\d+)", first + second):
        kinds = {"put": "put", "fetch": "fetch", "update": "update", "notify": "notify", "signal": "signal"}
        assert kinds.get(name, name) in " ".join(lines[int(line) - 1 : int(line) + 2]), (name, line)


TOLD = {
    "exchange/exchange.pgas": "The write of rank 1 in line 12 reads x before the write of rank 0 in line 12 has "
    "arrived there. The write of rank 0 is not done at once, and nothing keeps the write of rank 1 in line 12 from "
    "coming in between.",
    "self_read/read_twice.pgas": "The read of rank 0 in line 10 writes x before the read of rank 0 in line 11 has "
    "arrived there. Nothing before line 11 waits until the read in line 10 is complete.",
    "self_read/read_loop.pgas": "The read of rank 0 in line 11 writes x before the earlier read of rank 0 in line 11 "
    "has arrived there. Nothing waits until the earlier read in line 11 is complete.",
    "c/openshmem/source_reuse_nbi.c": "Rank 0 overwrites value in line 17 before its shmem_int_put_nbi in line 16 has "
    "read it. Nothing before line 17 waits until the shmem_int_put_nbi has read its source.",
    "c/gaspi/gaspi_waitsome_no_reset.c": "The gaspi_notify of rank 1 in line 45 writes notification 1 of rank 0 before "
    "the earlier gaspi_notify of rank 1 in line 45 has arrived there. Nothing orders the gaspi_notify before the next "
    "gaspi_notify in line 45.",
    "c/mpi/lock_no_flush.c": "Rank 0 reads value in line 19 before its MPI_Get in line 18 has arrived there. Nothing "
    "before line 19 waits until the MPI_Get has brought its value.",
    "c/gaspi/gaspi_wait_then_barrier.c": "Rank 0 reads cells[1] in line 27 before the gaspi_write of rank 1 in line 24 "
    "has arrived there. Nothing up to line 26 waits until the "
    "gaspi_write is complete at its target (gaspi_wait in line 25 and gaspi_barrier in line 26 do not).",
    "c/mpi/send_after_put.c": "Rank 1 reads x in line 22 before the MPI_Put of rank 0 in line 18 has arrived there, "
    "although the MPI_Recv of rank 1 in line 21 comes after the MPI_Send of rank 0 in line 19. Nothing before line 19 "
    "waits until the MPI_Put is complete at its target.",
}


@pytest.mark.parametrize(("name", "sentences"), TOLD.items(), ids=TOLD)
def test_what_is_said(name: str, sentences: str) -> None:
    assert told(check(load(PROGRAMS / name), effect=False)) == sentences


LOCAL = """#include <shmem.h>
#include <stdlib.h>
#include <alloca.h>
static int x;
static void send(int wanted) {
  int t = 5;
  shmem_int_put_nbi(&x, &t, 1, 1);
  %s
}
int main(void) {
  shmem_init();
  int *p = malloc(4);
  *p = 3;
  if (shmem_my_pe() == 0) {
    %s
  }
  shmem_finalize();
  return 0;
}
"""
ENDS = {
    ("", "send(1);"): "Rank 0's t goes out of scope at the end of the block in line 9",
    ("return;", "send(1);"): "Rank 0's t goes out of scope with the return in line 8",
    ("", "for (;;) { int a[1] = {4}; shmem_int_put_nbi(&x, a, 1, 1); break; }"): "Rank 0's a[0] goes out of scope with "
    "the break in line 15",
    ("", "while (x == 0) { int t = 7; shmem_int_put_nbi(&x, &t, 1, 1); shmem_fence(); x = 1; }"): "Rank 0's t goes out "
    "of scope at the end of the block in line 15",
    ("", "shmem_int_put_nbi(&x, p, 1, 1); free(p);"): "Rank 0 frees *p in line 15",
    ("", "shmem_int_put_nbi(&x, p, 1, 1); p = realloc(p, 8);"): "Rank 0 frees *p in line 15",
    ("", "shmem_int_put_nbi(&x, p, 1, 1); *p = 0;"): "Rank 0 overwrites *p in line 15",
}  # fmt: skip


@pytest.mark.parametrize(("ends", "sends"), ENDS, ids=lambda each: each[:40])
def test_where_the_life_of_memory_ends_it_is_not_overwritten(ends: str, sends: str) -> None:
    sentences = told(check(parse_c(LOCAL % (ends, sends)), nodes=2))
    assert sentences.startswith(f"{ENDS[ends, sends]} before its "), sentences
    assert re.search(r" has read it\. Nothing (before|up to) line \d+ waits until ", sentences)


def test_a_run_in_which_ranks_meet_comes_before_a_put_to_oneself() -> None:
    """Every rank sends to itself as well, and what it sends there may come as late."""
    sentences = told(check(load(PROGRAMS / "c/openshmem/bucket_sort_sync.c"), nodes=3, effect=False))
    assert sentences.startswith("Rank 2 reads inbox[1][0] in line 61 before the shmem_int_put_nbi of rank 1 in line 47")


ELEMENTS = """\
#include <shmem.h>
#include <stdio.h>
static long data[2];
int main(void) {
  long src[2] = {1, 2};
  shmem_init();
  if (shmem_my_pe() == 0)
    PUT
  else if (data[1] == 2)
    printf("%ld", data[0]);
  shmem_finalize();
}
"""


@pytest.mark.parametrize(
    ("put", "lacking"),
    [
        ("shmem_long_put_nbi(data, src, 2, 1);", "the elements that the shmem_long_put_nbi transfers"),
        (
            "for (int i = 0; i < 2; i++) shmem_long_p(&data[i], i + 1, 1);",
            "the shmem_long_p before the next shmem_long_p in line 8",
        ),
    ],
)
def test_elements_of_one_call_are_not_two_calls(put: str, lacking: str) -> None:
    verdict = check(parse_c(ELEMENTS.replace("PUT", put)), nodes=2)
    assert f"Nothing orders {lacking}." in told(verdict)
