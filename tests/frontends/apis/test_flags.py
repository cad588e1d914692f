"""Collectives as data flow: they promise what they should in every phase, and no more."""

from __future__ import annotations

import random

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.statements import statements_in
from pgasrob.robustness.verdict import Verdict

SHMEM = """#include <assert.h>
#include <shmem.h>
static int x, y, stop, source, dest, sums[4];
static long psync[SHMEM_SYNC_SIZE];
int main(void) {{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    (void) n;
    {}
    return 0;
}}
"""
MPI = """#include <assert.h>
#include <mpi.h>
static int x, y, value, all[4];
int main(int argc, char **argv) {{
    int rank, size;
    MPI_Request request;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    {}
    return 0;
}}
"""


def checked(frame: str, body: str, nodes: int) -> Verdict:
    return pgasrob.check(parse_c(frame.format(body)), nodes=nodes, effect=False)  # type: ignore[arg-type]


def assert_works(verdict: Verdict) -> None:
    assert verdict.errors == ()
    assert (verdict.verdict, verdict.deadlock) == ("robust", False)
    assert verdict.assertions in ("hold", None)


def test_a_subset_barrier_in_many_phases() -> None:
    body = """if (me != 1)
        for (int i = 1; i <= 6; i++) {
            if (me == 0) shmem_int_p(&x, i, 2);
            shmem_barrier(0, 1, 2, psync);
            if (me == 2) assert(x == i);
            shmem_barrier(0, 1, 2, psync);
        }"""
    assert_works(checked(SHMEM, body, 3))


def test_a_subset_sync_completes_nothing() -> None:
    body = """if (me == 0) shmem_int_p(&x, 1, 2);
    if (me != 1) shmem_sync(0, 1, 2, psync);
    if (me == 2) y = x;"""
    assert checked(SHMEM, body, 3).verdict == "not robust"


def test_a_subset_barrier_that_one_member_misses() -> None:
    body = "if (me == 0) shmem_sync(0, 1, 2, psync);"
    verdict = checked(SHMEM, body, 3)
    assert (verdict.verdict, verdict.deadlock) == ("robust", True)


def test_a_subset_barrier_in_a_loop_without_a_bound() -> None:
    body = """if (me == 1) shmem_int_p(&stop, 1, 0);
    if (me != 1) {
        int done = 0;
        while (!done) {
            if (me == 0) shmem_int_p(&dest, stop, 2);
            shmem_barrier(0, 1, 2, psync);
            done = me == 0 ? shmem_int_g(&dest, 2) : dest;
            shmem_barrier(0, 1, 2, psync);
        }
    }"""
    assert_works(checked(SHMEM, body, 3))


def test_broadcasts_one_after_the_other() -> None:
    body = """shmem_team_t team = SHMEM_TEAM_WORLD;
    for (int i = 1; i <= 3; i++) {
        source = 10 * me + i;
        shmem_int_broadcast(team, &dest, &source, 1, i % 2);
        assert(dest == 10 * (i % 2) + i);
        shmem_team_sync(team);
    }"""
    assert_works(checked(SHMEM, body, 2))


def test_reductions_one_after_the_other() -> None:
    body = """for (int i = 1; i <= 3; i++) {
        source = me + i;
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
        assert(dest == 3 * i + 3);
    }"""
    assert_works(checked(SHMEM, body, 3))


def test_scans_wait_for_lower_members_only() -> None:
    body = """source = me + 1;
    shmem_int_sum_inscan(SHMEM_TEAM_WORLD, &dest, &source, 1);
    assert(dest == (me + 1) * (me + 2) / 2);
    shmem_int_sum_exscan(SHMEM_TEAM_WORLD, &dest, &source, 1);
    assert(dest == me * (me + 1) / 2);"""
    assert_works(checked(SHMEM, body, 3))


def test_collections() -> None:
    body = """source = me + 1;
    shmem_int_collect(SHMEM_TEAM_WORLD, sums, &source, me > 0);
    assert(sums[0] == 2 && sums[1] == 3);
    sums[0] = 10 * me; sums[1] = 10 * me + 1; sums[2] = 10 * me + 2;
    static int column[3];
    shmem_int_alltoall(SHMEM_TEAM_WORLD, column, sums, 1);
    assert(column[0] == me && column[1] == 10 + me && column[2] == 20 + me);"""
    assert_works(checked(SHMEM, body, 3))


def test_a_split_barrier() -> None:
    body = """for (int i = 1; i <= 3; i++) {
        MPI_Win_lock_all(0, win);
        if (rank == 0) { value = i; MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win); }
        MPI_Win_unlock_all(win);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        y = i;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1) assert(x == i);
        MPI_Barrier(MPI_COMM_WORLD);
    }"""
    assert_works(checked(MPI, body, 2))


def test_a_split_barrier_does_not_order_what_stands_between_its_halves() -> None:
    body = """MPI_Win_lock_all(0, win);
    value = 1;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) y = x;
    MPI_Win_unlock_all(win);"""
    assert_works(checked(MPI, body, 2))


@pytest.mark.parametrize("receive", ["MPI_Recv(&y, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                                     "MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                                     "MPI_Irecv(&y, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); "
                                     "MPI_Wait(&request, MPI_STATUS_IGNORE);"])  # fmt: skip
def test_many_messages(receive: str) -> None:
    body = f"""for (int i = 0; i < 20; i++)
        if (rank == 0) {{ value = i; MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }}
        else {{ {receive} assert(y == i); }}"""
    assert_works(checked(MPI, body, 2))


def test_receives_are_matched_in_the_order_in_which_they_are_posted() -> None:
    body = """MPI_Request two[2];
    if (rank == 0)
        for (int i = 0; i < 2; i++) { value = i; MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }
    else {
        for (int i = 0; i < 2; i++) MPI_Irecv(&all[i], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &two[i]);
        MPI_Wait(&two[1], MPI_STATUS_IGNORE);
        MPI_Wait(&two[0], MPI_STATUS_IGNORE);
        assert(all[0] == 0 && all[1] == 1);
    }"""
    assert_works(checked(MPI, body, 2))


def test_a_gather_makes_the_root_alone_wait() -> None:
    body = """value = rank + 1;
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) assert(all[0] == 1 && all[1] == 2 && all[2] == 3);
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    assert(value == rank + 1);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &value, &value, 1, MPI_INT, MPI_PROD, 0, MPI_COMM_WORLD);
    if (rank == 0) assert(value == 6);"""
    assert_works(checked(MPI, body, 3))


@pytest.mark.parametrize("count", [8, 9, 20])
def test_a_burst_of_messages_does_not_wait_for_its_receiver(count: int) -> None:
    body = f"""int one = 1;
    MPI_Win_lock_all(0, win);
    MPI_Put(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    if (rank == 1) {{ MPI_Win_flush(0, win); y = x; }}
    for (int i = 0; i < {count}; i++)
        if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) y = x;
    MPI_Win_unlock_all(win);"""
    assert checked(MPI, body, 2).verdict == "not robust"


def test_nonblocking_sends_never_block() -> None:
    body = """MPI_Request sends[9];
    int got;
    for (int i = 0; i < 9; i++) MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &sends[i]);
    for (int i = 0; i < 9; i++) MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(9, sends, MPI_STATUSES_IGNORE);"""
    assert_works(checked(MPI, body, 2))


@pytest.mark.parametrize(("send", "waits"), [("Ssend", True), ("Send", False), ("Bsend", False), ("Rsend", False)])
def test_a_synchronous_send_waits_until_it_has_been_received(send: str, waits: bool) -> None:
    both = f"""MPI_{send}(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"""
    verdict = checked(MPI, both, 2)
    assert (verdict.deadlock is True and verdict.strict_waits is None) is waits
    # What the receiver has done before is seen by whoever has sent to it.
    body = f"""if (rank == 0) {{
        MPI_{send}(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        assert(y == 1);
    }} else {{
        x = 1;
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }}"""
    found = checked(MPI, body, 2)
    assert (found.verdict, found.assertions) == ("robust", "hold" if waits else "violated")


def test_more_messages_than_there_is_room_for_are_an_error() -> None:
    body = """if (rank == 0) while (!x) MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else while (!x) MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"""
    assert checked(MPI, body, 2).verdict == "error"


def test_an_unbounded_exchange_that_is_acknowledged() -> None:
    body = """int done = 0, answer = 1;
    if (rank == 0)
        while (!done) {
            MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    else
        while (!done) {
            MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            done = rand() % 2;
            MPI_Send(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }"""
    assert_works(checked(MPI.replace("#include <mpi.h>", "#include <mpi.h>\n#include <stdlib.h>"), body, 2))


def test_a_test_of_several_receives_takes_all_of_them_or_none() -> None:
    body = """int got, done, one = 1;
    MPI_Request two[2];
    if (rank == 0) {
        MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&all[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(&all[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &two[1]);
        MPI_Testall(2, two, &done, MPI_STATUSES_IGNORE);
        MPI_Send(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }"""
    assert_works(checked(MPI, body, 2))


def in_turn(seed: int) -> str:
    """Collectives of two communicators in which rank 0 alone gives values: it makes those of the second one earlier
    than others do, past barriers of the first."""
    chosen = random.Random(seed)
    calls = list[tuple[str, str]]()
    for number in range(1, chosen.randint(6, 10)):
        comm, kind = chosen.choice(["MPI_COMM_WORLD", "other"]), chosen.choice(["bcast", "bcast", "barrier", "reduce"])
        if kind == "bcast":
            text = f"value = rank ? 0 : {number}; MPI_Bcast(&value, 1, MPI_INT, 0, {comm}); assert(value == {number});"
        elif kind == "barrier":
            text = f"MPI_Barrier({comm});"
        else:
            reduced = f"MPI_Allreduce(&value, &y, 1, MPI_INT, MPI_SUM, {comm});"
            text = f"value = {number}; {reduced} assert(y == {number} * size);"
        calls.append((comm if kind != "bcast" else "free", text))
    early = list(calls)
    for place in range(len(early) - 1, 0, -1):
        for at in range(place, 0, -1):
            (before, one), (after, two) = early[at - 1], early[at]
            other = ("other" in one and "other" not in two) or ("other" in two and "other" not in one)
            if after != "free" or not other or chosen.random() < 0.3:
                break
            early[at - 1], early[at] = (after, two), (before, one)
    first, others = (" ".join(text for _, text in each) for each in (early, calls))
    return f"MPI_Comm other; MPI_Comm_dup(MPI_COMM_WORLD, &other); if (!rank) {{ {first} }} else {{ {others} }}"


@pytest.mark.parametrize("seed", range(24))
def test_what_is_used_in_turn_begins_anew_at_barriers(seed: int) -> None:
    """No message is taken for another, whoever is ahead, and there is room for each."""
    body = in_turn(seed)
    verdict = checked(MPI, body, 2 + seed % 2)
    assert (verdict.errors, verdict.verdict, verdict.assertions) == ((), "robust", "hold"), body
    assert verdict.deadlock is False or verdict.strict_waits is not None, body


DISPATCHER = """
    int command, got = 0;
    MPI_Win_fence(0, win);
    do {
        if (rank == 0 && scanf("%d", &command) != 1) command = 0;
        MPI_Bcast(&command, 1, MPI_INT, 0, MPI_COMM_WORLD);
        switch (command) {
        case 1: MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win); MPI_Win_fence(0, win);
                printf("%d", x); MPI_Win_fence(0, win); break;
        case 2: MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win); MPI_Win_fence(0, win); break;
        case 3: MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
        }
    } while (command);"""


def test_a_root_that_hears_from_nobody_is_no_error() -> None:
    body = "do { if (rank == 0) value = rand(); MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); } while (value);"
    verdict = checked(MPI.replace("<mpi.h>", "<mpi.h>\n#include <stdlib.h>"), body, 2)
    assert (verdict.errors, verdict.verdict, verdict.deadlock) == ((), "robust", False)


def test_a_dispatcher_comes_back_to_few_states() -> None:
    program = parse_c(MPI.replace("<mpi.h>", "<mpi.h>\n#include <stdio.h>").format(DISPATCHER)).program(2)
    assert sum(1 for each in program.processes for _ in statements_in(each.body)) < 800
    assert not program.gaps


def test_a_rank_that_only_receives_may_fall_behind() -> None:
    body = """for (int i = 0; i < 3; i++) {
            value = rank ? 0 : i + 1; MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); assert(value == i + 1);
            for (int j = 0; j < 5; j++) {
                value = rank == 1 ? j : 9; MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD); assert(value == j);
            }
        }"""
    assert_works(checked(MPI, body, 3))


def test_conditions_on_what_goes_round_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the root has drawn comes back to it through a get, and perhaps it broadcasts that again."""
    monkeypatch.setattr("pgasrob.frontends.c.driver.MOST_PASSES", 12)
    body = """int got = 0;
        do {
            if (rank == 0) x = rand();
            MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
            MPI_Win_fence(0, win);
            MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
            MPI_Win_fence(0, win);
            if (got > 100) y = got;
        } while (got);"""
    text = MPI.replace("<mpi.h>", "<mpi.h>\n#include <stdlib.h>").format(body)
    assert max(sum(1 for _ in statements_in(each.body)) for each in parse_c(text).program(2).processes) < 200
