"""What is not allowed (section 3.1), and what the model does not cover."""

from __future__ import annotations

import re

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.races.mpi import ModelVerdict, consistency, decide
from pgasrob.render.memory_model import model_to_json, sentence

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


SHARED_WINDOW = """// shared-memory: all
#include <mpi.h>
int main(int argc, char **argv) {
    int me, *mine, *theirs, unit, seen = 0;
    MPI_Aint size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &theirs);
    MPI_Win_lock_all(0, win);
    DO
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return seen;
}
"""
SYNC, BARRIER = "MPI_Win_sync(win);", "MPI_Barrier(MPI_COMM_WORLD);"
STORE, LOAD = "if (me == 0) mine[0] = 7;", "if (me == 1) seen = theirs[0];"


@pytest.mark.parametrize(
    ("statements", "status", "missing"),
    [
        ((STORE, SYNC, BARRIER, SYNC, LOAD), "defined", ()),
        ((STORE, BARRIER, LOAD), "undefined", ("consistency",)),
        ((STORE, SYNC, BARRIER, LOAD), "undefined", ("consistency",)),  # both sides have to
        ((STORE, BARRIER, SYNC, LOAD), "undefined", ("consistency",)),
        ((STORE, SYNC, SYNC, LOAD), "undefined", ("happens-before",)),
        ((LOAD, SYNC, BARRIER, SYNC, STORE), "defined", ()),
        (("if (me == 0) mine[1] = 7;", BARRIER, LOAD), "defined", ()),  # another place
    ],
)
def test_a_shared_window_is_synchronised_on_both_sides(
    statements: tuple[str, ...], status: str, missing: tuple[str, ...]
) -> None:
    """MPI-4.1, 12.2.3: a barrier alone does not make what another rank has stored visible."""
    program = parse_c(SHARED_WINDOW.replace("DO", "\n    ".join(statements)))
    verdict = decide(program, "unified")
    assert (verdict.status, tuple(race.missing for race in verdict.races)) == (status, missing), verdict.reason
    separate = decide(program, "separate")
    assert separate.status == "unknown" and "12.2.3" in (separate.reason or "")


def test_without_the_rule_of_shared_windows_synchronising_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "UNIFIED", (consistency.one_copy,))
    program = parse_c(SHARED_WINDOW.replace("DO", "\n    ".join((STORE, SYNC, BARRIER, SYNC, LOAD))))
    assert decide(program, "unified").status == "undefined"


def test_of_a_shared_window_it_is_said_what_is_missing() -> None:
    program = parse_c(SHARED_WINDOW.replace("DO", "\n    ".join((STORE, BARRIER, LOAD))))
    (race,) = model_to_json(decide(program, "unified"))["races"]
    assert sentence(race).endswith("in between: MPI_Win_sync on both sides (MPI-4.1, 12.2.3)")


def test_puts_to_a_shared_window_beside_loads_of_others_are_not_covered() -> None:
    put = "if (me == 1) MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win); MPI_Win_flush_all(win);"
    program = parse_c(SHARED_WINDOW.replace("DO", f"{put} {SYNC} {BARRIER} {SYNC} {LOAD}"))
    verdict = decide(program, "unified")
    assert verdict.status == "unknown" and "beside loads and stores of another rank" in (verdict.reason or "")


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
