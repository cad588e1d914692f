"""What is not allowed (section 3.1), and what the model does not cover."""

from __future__ import annotations

import re

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.races.mpi import ModelVerdict, decide

TEXT = """
// nodes: 2
#include <mpi.h>
static int x[2], y, one = 1;
int main(int argc, char **argv)
{
    int rank;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(x, sizeof x, sizeof x[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    DO
    MPI_Finalize();
    return 0;
}
"""
PUT = "MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);"
AT_0 = "if (rank == 0) "
LOCK_0 = "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);"
FENCE, NOPRECEDE = "MPI_Win_fence(0, win);", "MPI_Win_fence(MPI_MODE_NOPRECEDE, win);"


def verdict_on(statements: str) -> ModelVerdict:
    return decide(parse_c(TEXT.replace("DO", statements)), "unified")


@pytest.mark.parametrize(
    ("statements", "rule", "message"),
    [
        (AT_0 + PUT, "mpi-no-epoch", "MPI_Put with rank 1 outside of an epoch"),
        (f"{AT_0}{{ {LOCK_0} {PUT} MPI_Win_unlock(0, win); }}", "mpi-no-epoch", "with rank 1, while rank 0 alone"),
        (f"{AT_0}{{ {LOCK_0.replace('0,', '1,', 1)} {PUT} }}", "mpi-open-at-finalize", "between MPI_Win_lock"),
        (f"{FENCE} {AT_0}{PUT}", "mpi-open-at-finalize", "before a fence has completed the communication"),
        (f"{FENCE} {AT_0}{PUT} {NOPRECEDE}", "mpi-false-assertion", "NOPRECEDE ends an epoch"),
        (f"MPI_Win_fence(MPI_MODE_NOSUCCEED, win); {AT_0}{PUT} {FENCE}", "mpi-false-assertion", "MPI_MODE_NOSUCCEED"),
        (f"{FENCE} {AT_0}{PUT} MPI_Win_lock_all(0, win); MPI_Win_unlock_all(win); {FENCE}", "mpi-epochs-overlap", ""),
        (f"{AT_0}MPI_Win_flush(1, win);", "mpi-flush-unlocked", "MPI_Win_flush of rank 1 outside of a lock"),
        ("MPI_Win_flush_local_all(win);", "mpi-flush-unlocked", "outside of a lock"),
        (f"MPI_Win_lock_all(0, win); {FENCE} MPI_Win_unlock_all(win);", "mpi-epochs-overlap", "MPI_Win_lock_all"),
        (f"{AT_0}{{ {LOCK_0} MPI_Win_unlock(0, win); }} {NOPRECEDE}", "mpi-locked-and-exposed", "at a fence"),
    ],
)  # fmt: skip
def test_misuses(statements: str, rule: str, message: str) -> None:
    verdict = verdict_on(statements)
    assert verdict.status == "undefined"
    assert not verdict.races
    (misuse,) = {each.call for each in verdict.misuses}
    assert misuse.rule.code == rule
    assert message in misuse.sentence


def test_a_win_sync_inside_an_epoch_of_fences_is_allowed() -> None:
    verdict = verdict_on(f"{FENCE} {AT_0}{PUT} MPI_Win_sync(win); MPI_Barrier(MPI_COMM_WORLD); {FENCE}")
    assert (verdict.status, verdict.misuses) == ("defined", ())


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("__sync_fetch_and_add(&x[0], 1);" + FENCE + AT_0 + PUT + FENCE, "an atomic operation of C"),
        ("if (rank == 0) MPI_Recv(&y, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "wait for each other"),
    ],
)
def test_what_is_not_covered(statements: str, reason: str) -> None:
    verdict = verdict_on(statements)
    assert verdict.status == "unknown"
    assert re.search(reason, verdict.reason or "")


def test_a_shared_window_is_not_covered() -> None:
    text = TEXT.replace("MPI_Win_create(x, sizeof x, sizeof x[0],", "int *p; MPI_Win_allocate_shared(8, 4,").replace(
        "MPI_COMM_WORLD, &win", "MPI_COMM_WORLD, &p, &win"
    )
    verdict = decide(parse_c("// shared-memory: all" + text.replace("DO", FENCE)), "unified")
    assert verdict.status == "unknown"
    assert "does not cover MPI_Win_allocate_shared" in (verdict.reason or "")


def test_accumulates_of_two_types_conflict() -> None:
    """Section 2.3: they may overlap when their basic types are one."""
    both = "MPI_Accumulate(&one, 1, {0}, 0, 0, 1, {0}, MPI_SUM, win);"
    for other, status in (("MPI_INT", "defined"), ("MPI_UNSIGNED", "undefined")):
        ways = f"if (rank == 0) {both.format('MPI_INT')} else {both.format(other)}"
        assert verdict_on(f"{FENCE} {ways} {FENCE}").status == status


def test_a_program_that_is_none() -> None:
    verdict = verdict_on("MPI_Win_lock(7, 0, 0, win);")
    assert verdict.status == "error"
    assert "no kind of lock" in verdict.errors[0].message


def test_runs_that_are_not_sequentially_consistent() -> None:
    """Accumulates to two places may take effect in any order, and then rank 1 comes to a store that races."""
    add = "MPI_Accumulate(&one, 1, MPI_INT, 1, {}, 1, MPI_INT, MPI_REPLACE, win);"
    fetch = "MPI_Fetch_and_op(&one, &{}, MPI_INT, 1, {}, MPI_NO_OP, win); MPI_Win_flush(1, win);"
    text = (
        "static int first, second; MPI_Win_lock_all(0, win); if (rank == 0) {"
        f"{add.format(0)} {add.format(1)} }} else {{ {fetch.format('first', 1)} {fetch.format('second', 0)}"
        "if (first == 1 && second == 0) x[0] = 5; } MPI_Win_unlock_all(win);"
    )
    verdict = verdict_on(text)
    assert verdict.status == "unknown"
    assert "`pgasrob check` shows one" in (verdict.reason or "")
    assert verdict_on(text.replace(add.format(1), f"MPI_Win_flush(1, win); {add.format(1)}")).status == "defined"
