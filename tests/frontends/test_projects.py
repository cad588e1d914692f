"""Programs in the shapes of real ones, each with the answer that its header expects, and their wrong twins.

`suite` has tests with a helper file that catches signals, logs, makes windows of every kind of memory, and has
functions that none of them calls. `kernels` are benchmarks in one file each.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import pgasrob
from pgasrob.cli import cli
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import load_c, parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Illegal
from pgasrob.program.statements import Do, statements_in
from tests.support import sampled

PROJECTS = Path(__file__).parent / "projects"
HARNESS = PROJECTS / "suite" / "harness.c"
WITH_HARNESS = FrontEnd(units=(str(HARNESS),))
TESTS = ["counter", "probed", "put_fence", "put_no_fence", "unlocked"]


def test_a_suite_with_its_helper_file_as_it_is() -> None:
    result = CliRunner().invoke(cli, ["check", "--expect", str(PROJECTS / "suite")])
    assert f"{len(TESTS)} as expected, 0 not." in result.output, result.output
    assert sorted(each.stem for each in (PROJECTS / "suite").glob("*.c")) == sorted((*TESTS, HARNESS.stem))


def test_what_no_test_calls_is_a_note() -> None:
    program = load_c(PROJECTS / "suite" / "put_fence.c", WITH_HARNESS).program(2)
    noted = {each.kind: each for each in program.assumptions}
    # Of the helper, a function that nobody names is not even looked at (`harness_sum`, `harness_thread`).
    assert Kind.UNREAD_FUNCTIONS not in noted and {"signal", "sigaction"} <= {*noted[Kind.NOT_CALLED].about}
    text = (PROJECTS / "suite" / "put_fence.c").read_text()
    extra = "int harness_sum(int count, ...); int (*unused)(int, ...) = harness_sum;\nint main("
    file = str(PROJECTS / "suite" / "put_fence.c")
    program = parse_c(text.replace("int main(", extra), file, WITH_HARNESS).program(2)
    assert {each.kind: each for each in program.assumptions}[Kind.UNREAD_FUNCTIONS].about == ("harness_sum()",)
    called = text.replace("return harness_end(errors);", "return harness_end(errors + harness_sum(1, 0));")
    with pytest.raises(SourceError, match="`va_arg` is not supported"):
        parse_c(called.replace("int main(", "int harness_sum(int, ...);\nint main("), file, WITH_HARNESS).program(2)


def test_what_the_helper_counts() -> None:
    """Windows that are not freed are errors: the attribute of each is deleted with it."""
    text = (PROJECTS / "suite" / "put_fence.c").read_text()
    claimed = text.replace(
        "    return harness_end", "    assert(harness_alive == ALIVE && !errors);\n    return harness_end"
    )
    claimed = claimed.replace('#include "harness.h"', '#include "harness.h"\n#include <assert.h>')
    left = claimed.replace(
        "        harness_free(&w);\n", "        if (w.kind != ALLOCATED)\n            harness_free(&w);\n"
    )
    for source, alive, expected in ((claimed, "0", "hold"), (left, "1", "hold"), (left, "0", "violated")):
        program = parse_c(source.replace("ALIVE", alive), str(PROJECTS / "suite" / "put_fence.c"), WITH_HARNESS)
        assert pgasrob.check(program, nodes=2).assertions == expected


KERNELS = {
    "transpose": (3, ("                MPI_Win_fence(0, window);\n", ""), "not robust"),
    "halo": (4, ("    MPI_Win_fence(0, window);\n\n", "    MPI_Barrier(cart);\n\n"), "not robust"),
    "stencil": (3, ("shmemx_double_put_signal(halo[turn][1], grid[0], WIDTH, &arrived[turn][1], step / 2 + 1, "
                    "SHMEM_SIGNAL_SET, me - 1)",
                    "(shmem_double_put_nbi(halo[turn][1], grid[0], WIDTH, me - 1), "
                    "shmem_uint64_atomic_set(&arrived[turn][1], step / 2 + 1, me - 1))"), "not robust"),
    "random_access": (4, ("shmem_uint64_atomic_xor(&table[at % words], random, (int) (at / words))",
                          "shmem_uint64_p(&table[at % words], random ^ shmem_uint64_g(&table[at % words], "
                          "(int) (at / words)), (int) (at / words))"), "races"),
    "random_access_rma": (4, ("        MPI_Win_flush_all(window);\n", ""), "not robust"),
    "breadth_first": (2, ("        shmem_barrier_all();\n        now =", "        shmem_sync_all();\n        now ="),
                      "not robust"),
    "hybrid_stencil": (2, ("MPI_Win_fence(0, win);\n        double", "MPI_Barrier(MPI_COMM_WORLD);\n        double"),
                       "not robust"),
    "work_queue": (3, ("            shmem_quiet();", ""), "not robust"),
    "work_stealing": (2, ("&locks[victim]", "&locks[shmem_my_pe()]"), "assertions"),
}  # fmt: skip
"""Each with a number of ranks, what makes it wrong, and what is wrong then."""


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    nodes, (right, wrong), expected = KERNELS[name]
    text = (PROJECTS / "kernels" / f"{name}.c").read_text()
    verdict = pgasrob.check(parse_c(text), nodes=nodes)
    assert (verdict.verdict, verdict.assertions in (None, "hold"), verdict.deadlock) == ("robust", True, False)
    assert verdict.races is not None and verdict.races.answer == "none"
    if name in ("breadth_first", "work_stealing"):  # their indices are unknown, but they are checked
        assert verdict.hardware is not None and not any(each.overtaken for each in verdict.hardware.occasions)
    assert text.count(right) == 1
    asked = ("robust", "races") if expected == "races" else ("robust", "assertions")
    verdict = pgasrob.check(parse_c(text.replace(right, wrong)), nodes=nodes, effect=False, only=asked)
    if expected == "not robust":
        assert verdict.verdict == expected
    elif expected == "assertions":
        assert (verdict.verdict, verdict.assertions) == ("robust", "violated")
    else:
        assert verdict.races is not None
        assert (verdict.verdict, verdict.races.answer) == ("robust", "matters")


@pytest.mark.parametrize(
    ("macro", "begins"), [("NO_PRIVATE", "`j` is written"), ("IN_PLACE", "`grid[i][j]` is written")]
)
def test_a_hybrid_kernel_whose_threads_race(macro: str, begins: str) -> None:
    path = PROJECTS / "kernels" / "hybrid_stencil.c"
    statements = (
        each
        for process in load_c(path, FrontEnd(defines=((macro, "1"),))).program(2).processes
        for each in statements_in(process.body)
    )
    found = {each.command.fact for each in statements if isinstance(each, Do) and isinstance(each.command, Illegal)}
    assert [each.sentence.startswith(begins) for each in found] == [True]


def test_a_hybrid_kernel_that_communicates_in_a_region() -> None:
    path = PROJECTS / "kernels" / "hybrid_stencil.c"
    program = load_c(path, FrontEnd(defines=(("IN_A_REGION", "1"),))).program(2)
    assert [process.thread for process in program.processes] == [0, 1, 0, 1]


def test_the_kernels_answer_what_their_headers_expect() -> None:
    """One in three of them, with --nightly all."""
    kernels = sampled(sorted((PROJECTS / "kernels").glob("*.c")), 3)
    result = CliRunner().invoke(cli, ["check", "--expect", *map(str, kernels)])
    assert f"{len(kernels)} as expected, 0 not." in result.output, result.output
    assert len(kernels) >= 3
