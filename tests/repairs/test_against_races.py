"""Repairs of robust programs in which a race changes the result, and what is said of what is not repaired."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.api import check
from pgasrob.cli import cli
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.render.repair_text import repair_to_json, what_else
from pgasrob.repairs import Repair, repair
from pgasrob.repairs.sc_outcomes import Before, Compared
from pgasrob.repairs.search import Goal
from pgasrob.repairs.thrift import thrift
from pgasrob.repairs.verifier import Verifier
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.synchronisation import synchronised

SHMEM = """#include <shmem.h>
static int in, sum, flag;
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
%s
    shmem_finalize();
    return 0;
}
"""
NOT_READY = """    for (int i = 0; i < 2; i++) {
        shmem_int_p(&in, i + 1, (me + 1) % n);
        shmem_barrier_all();
        sum += in;
    }"""
TOO_EARLY = """    if (me == 0)
        shmem_int_p(&in, 1, 1);
    if (me == 1)
        sum = in;"""
IN_BRANCHES = """    if (me == 0)
        shmem_int_p(&in, 1, 1);
    else
        sum = in;"""
STUCK = """    if (me == 1)
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();"""
ALREADY = """    if (me == 0)
        shmem_int_p(&in, 1, 1);
    shmem_barrier_all();
    if (me == 1)
        sum = in;"""
LATE = """    shmem_int_p(&in, me + 1, (me + 1) % n);
    sum = in;"""
MPI = """#include <mpi.h>
static int memory[2], got;
int main(int argc, char **argv) {
    int me, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    if (me == 0)
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    if (me == 1)
        got = memory[0];
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
"""
FENCED = MPI.replace("MPI_Win_lock_all(0, win)", "MPI_Win_fence(0, win)").replace(
    "MPI_Win_unlock_all(win)", "MPI_Win_fence(0, win)"
)
RACY = (
    "memory x, y = 1, z; nodes 2; register r; queue q;"
    "process { if (me == 0) { write(y, 1, x, q); wait(q); } r <- mem[x]; }"
)


def repaired(text: str, nodes: tuple[int, ...] = (2,), goal: Goal | None = None) -> Repair:
    return repair(parse_c(text, "some.c"), partial(parse_c, file="some.c"), nodes, goal=goal)


@pytest.mark.parametrize(
    ("text", "nodes", "cost", "expected"),
    [
        (SHMEM % NOT_READY, (2,), 24, [{("shmem_barrier_all();", 10)}, {("shmem_barrier_all();", 7)}]),
        (SHMEM % TOO_EARLY, (2, 3), 8, [{("shmem_barrier_all();", 8)}]),
        (FENCED, (2,), 8, [{("MPI_Win_fence(0, win);", 12)}]),
        (
            MPI, (2,), 12,
            [
                {("MPI_Win_flush(1, win);", 10), ("MPI_Barrier(MPI_COMM_WORLD);", 12)},
                {("MPI_Win_flush(1, win);", 12), ("MPI_Barrier(MPI_COMM_WORLD);", 12)},
                {("MPI_Win_flush_all(win);", 10), ("MPI_Barrier(MPI_COMM_WORLD);", 12)},
            ],
        ),
    ],
)  # fmt: skip
def test_a_barrier_that_leaves_no_race(
    text: str, nodes: tuple[int, ...], cost: int, expected: list[set[tuple[str, int]]]
) -> None:
    """With what has to be waited for before it; and the whole question says of the changed text that all is well."""
    found = repaired(text, nodes)
    assert found.state == "repaired" and found.against_races and {each.cost for each in found.answers} == {cost}
    assert [{(each.text, each.line) for each in answer.candidates} for answer in found.answers] == expected
    for answer in found.answers:
        assert answer.same.compared is Compared.FEWER
        for count in nodes:
            whole = synchronised(check(parse_c(answer.text, "some.c"), nodes=count))
            assert whole is not None and (whole.answer, whole.whole) == ("yes", True)


def test_what_no_barrier_repairs() -> None:
    """The program stays what it is, robust, and it is said what is wrong and what was tried."""
    found = repaired(SHMEM % IN_BRANCHES)
    assert (found.state, found.answers, found.against_races) == ("robust", (), True)
    assert found.checks and len(found.rejected) == found.checks
    assert any("a race changes the result all the same" in each.why for each in found.rejected)
    made = repair_to_json("some.c", found)
    assert (made["state"], made["goal"]) == ("robust", "races")
    assert made["not_repaired"] == ["1 race that changes the result on 2 nodes"]


def test_goals() -> None:
    """Of C races are repaired unless robustness alone is asked for; of the core language where they are asked for."""
    assert repaired(SHMEM % TOO_EARLY, goal="robust").races == ()
    assert [each.answer for each in repaired(SHMEM % ALREADY).races] == ["none"]
    program = parse(RACY)
    assert repair(program, parse, (2,)).races == ()
    found = repair(program, parse, (2,), goal="races")
    assert [each.answer for each in found.races] == ["matters"]
    assert ["barrier;" in each.text for each in found.answers] == [True]


def test_a_program_that_is_not_robust_comes_first() -> None:
    found = repaired(SHMEM % LATE)
    assert found.state == "repaired" and not found.against_races and found.races == ()
    assert [each.answer for each in found.left] == ["matters"]
    again = repaired(found.answers[0].text)
    assert again.state == "repaired" and again.against_races and again.left == ()


def test_what_else_is_wrong() -> None:
    stuck = repaired(SHMEM % STUCK, (2, 3, 4))
    assert stuck.state == "robust" and what_else(stuck.verdicts, stuck.races) == ["1 deadlock on 2, 3 and 4 nodes"]
    fine = repaired(SHMEM % ALREADY)
    assert what_else(fine.verdicts, fine.races) == []
    program = parse_c(SHMEM % TOO_EARLY, "some.c")
    spared = thrift(program, partial(parse_c, file="some.c"), (2,))
    assert what_else(spared.verdicts, spared.races) == ["1 race that changes the result on 2 nodes"]
    late = thrift(parse_c(SHMEM % LATE, "some.c"), partial(parse_c, file="some.c"), (2,))
    assert (late.state, late.races) == ("not robust", ())


def test_output(tmp_path: Path) -> None:
    """Reports and JSON of both commands; the exit code of a robust program stays 0."""
    for name, body in (("stuck", STUCK), ("early", TOO_EARLY), ("fine", ALREADY), ("late", LATE)):
        (tmp_path / f"{name}.c").write_text(SHMEM % body)

    def run(command: str, name: str, *options: str) -> str:
        found = CliRunner().invoke(cli, [command, str(tmp_path / f"{name}.c"), *options])
        assert found.exit_code == 0, found.output
        return found.output

    def said(command: str, name: str, *options: str) -> str:
        return " ".join(run(command, name, *options).split())

    beside = "But it is not correctly synchronised: 1 deadlock on 2 nodes (`pgasrob check` shows why)."
    assert "stuck.c: robust on 2 nodes: that needs no repair " in said("repair", "stuck")
    assert beside in said("repair", "stuck") and beside in said("thrift", "stuck")
    assert "fine.c: robust on 2 nodes: there is nothing to repair" in said("repair", "fine")
    assert "But" not in said("thrift", "fine")
    early = said("repair", "early")
    assert "Lines 7 and 9 race for in of rank 1" in early and "But" not in early
    assert "Robust on 2 nodes, and no race changes the result: checked on the changed text. Each of its" in early
    kept = "SC runs ends as some did before (1 outcome, 2 before). Please check that these are the ones you want."
    assert kept in early
    assert "there is nothing to repair" in said("repair", "early", "--for", "robust")
    again = "A race changes the result of the repaired program all the same: run `pgasrob repair` again on it."
    assert again in said("repair", "late")
    found = json.loads(run("repair", "stuck", "--format", "json"))
    assert (found["goal"], found["not_repaired"]) == ("robust", ["1 deadlock on 2 nodes"])
    assert json.loads(run("thrift", "stuck", "--format", "json"))["not_correct"] == ["1 deadlock on 2 nodes"]
    assert json.loads(run("repair", "early", "--format", "json"))["answers"][0]["outcomes"] == "fewer"


def test_runs_end_as_some_did() -> None:
    """A changed program may have fewer ends, and reads, and no other ones."""

    def before_and(after: str) -> Compared:
        return Before(parse(free), lambda _: 0).among(parse(after), (2,), lambda _: 0).compared

    free = RACY.replace("wait(q);", "wait(q); mem[z] <- 1;")
    assert before_and(free) is Compared.FEWER
    assert before_and(free.replace("} r <-", "} barrier; r <-")) is Compared.FEWER
    assert before_and(free.replace("mem[z] <- 1", "mem[z] <- 2")) is Compared.DIFFERENT
    assert before_and(free.replace("} r <-", "} barrier; barrier; mem[x] <- 5; r <-")) is Compared.DIFFERENT


def test_a_limit_leaves_races_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.races.consequences.MOST_STATES", 3)
    monkeypatch.setattr("pgasrob.races.consequences.MOST_STATES_AT_ONE_PLACE", 3)
    program = parse_c(SHMEM % NOT_READY, "some.c")
    verifier = Verifier(program, partial(parse_c, file="some.c"), (2,), Limits(), 10)
    assert [each.answer for each in verifier.races] == ["unknown"]


def test_a_barrier_between_accesses_to_a_shared_window_is_no_repair() -> None:
    """It takes MPI_Win_sync on both sides as well (MPI-4.1, 12.2.3)."""
    text = """// shared-memory: all
#include <mpi.h>
int main(int argc, char **argv) {
    int me, unit, *mine, *first, seen = 0; MPI_Aint size; MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &first);
    MPI_Win_lock_all(0, win);
    if (me == 0)
        mine[0] = 7;
    if (me == 1)
        seen = first[0];
    MPI_Win_unlock_all(win);
    MPI_Finalize();
    return seen;
}
"""
    found = repaired(text)
    assert not found.answers
    assert any("without MPI_Win_sync behind the store and before the load" in each.why for each in found.rejected)
