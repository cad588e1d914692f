"""Where MPI_Win_sync is missing, in the one answer about a program with shared windows (MPI-4.1, 12.2.3 and 12.5.4)."""

from __future__ import annotations

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.apis.mpi.rules import WINDOW_SYNC
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.races.mpi import consistency, decide, shared_windows
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, RobustnessOnEveryCount, Synchronisation
from pgasrob.robustness.reasons import TimeLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.synchronisation import synchronised
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import LimitReached

TEXT = """// shared-memory: all
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int me, *mine, *first, unit, seen = 0, token = 0;
    MPI_Aint size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(12, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &first);
    DO
    MPI_Win_free(&win);
    printf("%d", seen);
    MPI_Finalize();
}
"""
FIRST = 12
"""The line of the first statement."""
SYNC, BARRIER, FENCE = "MPI_Win_sync(win);", "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Win_fence(0, win);"
ALL, NONE_LEFT = "MPI_Win_lock_all(0, win);", "MPI_Win_unlock_all(win);"
STORE, LOAD = "if (me == 0) mine[0] = 7;", "if (me == 1) seen = first[0];"
RAISE = "if (me == 0) ((volatile int *)mine)[1] = 1;"
AWAIT = "if (me == 1) while (!((volatile int *)first)[1]);"
AWAIT_WITH_SYNC = "if (me == 1) while (!((volatile int *)first)[1]) MPI_Win_sync(win);"
MESSAGE = (
    "if (me == 0) MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);"
    " if (me == 1) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
)
LOCK, UNLOCK = "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);", "MPI_Win_unlock(0, win);"
PSCW = (
    "MPI_Group all, two; int other = 1 - me; MPI_Comm_group(MPI_COMM_WORLD, &all);"
    " MPI_Group_incl(all, 1, &other, &two);"
    " if (me == 0) {{ MPI_Win_post(two, 0, win); MPI_Win_wait(win); seen = mine[0]; }}"
    " else {{ MPI_Win_start(two, 0, win); {} MPI_Win_complete(win); }}"
)
ACQUIRE = (
    "int zero = 0, one = 1, got = 1; do { MPI_Compare_and_swap(&one, &zero, &got, MPI_INT, 0, 1, win);"
    " MPI_Win_flush(0, win); } while (got);"
)
RELEASE = "MPI_Accumulate(&zero, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(0, win);"
BOTH = "behind the {0} and before the {1}"


def answer(*statements: str, nodes: int | None = 2, timeout: float | None = None) -> Verdict:
    asked = Synchronisation(effect=False) if nodes else RobustnessOnEveryCount(effect=False)
    program = parse_c(TEXT.replace("DO", "\n    ".join(statements)))
    return about_robustness(Session(Question(program, nodes, asked, limits=Limits(timeout=timeout))), asked)


def findings(verdict: Verdict) -> list[tuple[int, int, str]]:
    """For each place where MPI_Win_sync is missing the numbers of the two statements, and on which sides."""
    return [
        (each.call.opened.span.line - FIRST, each.call.span.line - FIRST, each.call.sentence.partition("Win_sync ")[2])
        for each in verdict.illegal_calls
        if each.call.rule == WINDOW_SYNC and each.call.opened is not None
    ]


def rests_on_it(verdict: Verdict) -> bool:
    return any(each.kind is Kind.WINDOW_SYNC for each in verdict.assumptions)


LOADED = BOTH.format("store", "load")


@pytest.mark.parametrize(
    ("statements", "missing"),
    [
        ((ALL, STORE, SYNC, BARRIER, SYNC, LOAD, NONE_LEFT), []),
        ((ALL, STORE, BARRIER, LOAD, NONE_LEFT), [(1, 3, LOADED)]),
        ((ALL, STORE, SYNC, BARRIER, LOAD, NONE_LEFT), [(1, 4, "before the load")]),
        ((ALL, STORE, BARRIER, SYNC, LOAD, NONE_LEFT), [(1, 4, "behind the store")]),
        # A fence of the window synchronises on it, and so do locks.
        ((FENCE, STORE, FENCE, LOAD, FENCE), []),
        ((LOCK, STORE, UNLOCK, BARRIER, LOCK, LOAD, UNLOCK), []),
        ((f"for (int k = 0; k < 2; k++) {{ {LOCK} first[0]++; {UNLOCK} }}",), []),
        ((ALL, STORE, NONE_LEFT, BARRIER, ALL, LOAD, NONE_LEFT), []),
        ((STORE, BARRIER, ALL, LOAD, NONE_LEFT), [(0, 3, "behind the store")]),
        ((PSCW.format("first[0] = 5;"),), []),
        ((ALL, STORE, "if (me == 0) MPI_Win_flush(0, win);", BARRIER, SYNC, LOAD, NONE_LEFT), []),
        ((ALL, STORE, "if (me == 0) MPI_Win_flush_local(0, win);", BARRIER, SYNC, LOAD, NONE_LEFT),
         [(1, 5, "behind the store")]),
        # A lock made of atomics orders what it guards, but that has to be synchronised before the lock is given up.
        ((ALL, ACQUIRE, "first[0]++;", SYNC, RELEASE, NONE_LEFT), []),
        ((ALL, ACQUIRE, "first[0]++;", RELEASE, NONE_LEFT), [(2, 2, "behind the store")]),
        # So does a load that a store comes after: MPI-4.1 added these calls to its example (12.23).
        ((ALL, LOAD, BARRIER, STORE, NONE_LEFT), [(1, 3, BOTH.format("load", "store"))]),
        ((ALL, LOAD, SYNC, BARRIER, SYNC, STORE, NONE_LEFT), []),
        # Messages and flags order as a barrier does.
        ((ALL, STORE, MESSAGE, LOAD, NONE_LEFT), [(1, 3, LOADED)]),
        ((ALL, STORE, SYNC, MESSAGE, SYNC, LOAD, NONE_LEFT), []),
        ((ALL, STORE, RAISE, AWAIT, LOAD, NONE_LEFT), [(1, 4, LOADED)]),
        ((ALL, STORE, SYNC, RAISE, AWAIT, SYNC, LOAD, NONE_LEFT), []),
        ((ALL, STORE, SYNC, RAISE, AWAIT, LOAD, NONE_LEFT), [(1, 5, "before the load")]),
        ((ALL, STORE, RAISE, AWAIT_WITH_SYNC, LOAD, NONE_LEFT), [(1, 4, LOADED)]),
        ((ALL, STORE, SYNC, RAISE, AWAIT_WITH_SYNC, SYNC, LOAD, NONE_LEFT), []),
        # Other cells, and a rank's own.
        ((ALL, "if (me == 0) mine[2] = 7;", BARRIER, LOAD, NONE_LEFT), []),
        ((ALL, STORE, BARRIER, "if (me == 0) seen = first[0];", NONE_LEFT), []),
        ((ALL, "if (me == 0) token = 7;", BARRIER, "if (me == 1) seen = token;", NONE_LEFT), []),
    ],
)  # fmt: skip
def test_where_it_is_missing(statements: tuple[str, ...], missing: list[tuple[int, int, str]]) -> None:
    verdict = answer(*statements)
    found = synchronised(verdict)
    assert found is not None
    assert findings(verdict) == missing
    assert (found.answer, verdict.legal) == (("no", "no") if missing else ("yes", "yes"))
    # What was looked for and is nowhere is no assumption any more.
    assert rests_on_it(verdict) == bool(missing)


def test_the_finding_says_what_to_do_and_shows_a_run() -> None:
    verdict = answer(ALL, STORE, BARRIER, LOAD, NONE_LEFT)
    (found,) = verdict.illegal_calls
    assert found.call.sentence.startswith("a load of mine[0]@0, which rank 0 has stored")
    assert found.call.rule.section == "MPI-4.1, 12.2.3 and 12.5.4"
    assert found.call.remedy == (
        f"call MPI_Win_sync behind line {FIRST + 1} and before line {FIRST + 3}, with what orders the two in between"
    )
    assert found.rank == 1 and found.run is not None
    assert found.run.run.computation[-1].rank == 1


def test_a_race_is_no_finding_about_win_sync() -> None:
    """What nothing orders is for the line about races."""
    verdict = answer(ALL, STORE, LOAD, NONE_LEFT)
    assert (findings(verdict), verdict.legal) == ([], "yes")
    assert verdict.races is not None and verdict.races.answer == "matters"


def test_a_deadlock_hides_no_missing_sync() -> None:
    stuck = "if (me == 1) MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    verdict = answer(ALL, STORE, BARRIER, LOAD, stuck, NONE_LEFT)
    assert verdict.deadlock is True
    assert findings(verdict) == [(1, 3, LOADED)]


def test_atomics_of_c_are_left_to_the_assumption() -> None:
    """MPI-4.1 lets constructs of the language stand for MPI_Win_sync; what these promise is not looked at."""
    verdict = answer(ALL, STORE, "__sync_synchronize();", BARRIER, "__sync_synchronize();", LOAD, NONE_LEFT)
    assert (findings(verdict), verdict.legal, rests_on_it(verdict)) == ([], "yes", True)


def test_where_there_are_too_many_executions_it_is_assumed_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = f"for (int k = 0; k < 2; k++) {{ {LOCK} first[0]++; {UNLOCK} }}"
    monkeypatch.setattr(shared_windows, "MOST_EXECUTIONS", 3)
    verdict = answer(locked)
    found = synchronised(verdict)
    assert found is not None and found.answer == "yes" and rests_on_it(verdict)
    assert str(verdict.reason) == (
        "MPI_Win_sync may be missing where nobody has looked (window-sync is assumed): not all executions with shared "
        "windows were looked at: there are more than 3"
    )
    assert findings(answer(locked, BARRIER, LOAD)) == [(0, 2, "before the load")]  # it shows in the first one


def test_a_limit_of_time_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*given: object, **more: object) -> None:
        raise LimitReached(TimeLimit(60, shared_windows.LOOKING))

    monkeypatch.setattr(shared_windows, "executions", late)
    verdict = answer(ALL, STORE, SYNC, BARRIER, SYNC, LOAD, NONE_LEFT)
    found = synchronised(verdict)
    assert found is not None and found.answer == "unknown"
    assert (verdict.verdict, verdict.legal) == ("robust", "unknown")
    assert "MPI_Win_sync" in str(verdict.reason)


def test_a_limit_before_that_is_kept_as_it_is() -> None:
    assert answer(ALL, STORE, BARRIER, LOAD, NONE_LEFT, timeout=1e-6).verdict == "unknown"


def test_every_number_of_nodes() -> None:
    """What is missing on one number is; that it is missing nowhere was looked at for a few, so the rest is assumed."""
    verdict = answer(ALL, STORE, BARRIER, LOAD, NONE_LEFT, nodes=None)
    assert verdict.every is not None and findings(verdict) == [(1, 3, LOADED)]
    fine = answer(ALL, STORE, SYNC, BARRIER, SYNC, LOAD, NONE_LEFT, nodes=None)
    assert fine.every is not None and (findings(fine), rests_on_it(fine)) == ([], fine.verdict == "robust")


def test_programs_without_shared_windows_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_windows, "with_missing_syncs", None)
    text = (
        TEXT.replace("allocate_shared", "allocate").replace("MPI_Win_shared_query", "//").replace("DO", ALL + NONE_LEFT)
    )
    asked = Synchronisation(effect=False)
    assert about_robustness(Session(Question(parse_c(text), 2, asked)), asked).legal == "yes"


def test_a_flag_in_a_shared_window_is_eventual() -> None:
    """As one that is put there (section 3.5 of the paper): a load that polls sees it at last."""
    text = TEXT.replace("DO", "\n    ".join((ALL, STORE, SYNC, RAISE, AWAIT, SYNC, LOAD, NONE_LEFT)))
    assert decide(parse_c(text), "unified", 2).status == "eventual"
    assert decide(parse_c(text.replace(SYNC, "")), "unified", 2).status == "undefined"


def test_without_the_rule_of_polls_a_flag_orders_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "ORDERED", (consistency.accumulates, consistency.fetches))
    assert findings(answer(ALL, STORE, RAISE, AWAIT, LOAD, NONE_LEFT)) == []
