"""Programs with several mistakes, macros, directives and epochs: what is put where, and at what cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render.repair_text import repair_to_json
from pgasrob.repairs import Costs, Repair, remedies, repair
from pgasrob.repairs.remedies import CallText

SHMEM = """#include <shmem.h>
#include <stdio.h>
#define PUT(to, from) shmem_long_put(to, from, 1, 1)
#define SEND shmem_long_put(&data, &v, 1, 1)
static long data; static int flag;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    long v = 7;
BODY
    if (me == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\\n", data);
    }
    shmem_finalize();
    return 0;
}
"""
GASPI = """#include <GASPI.h>
#include <stdio.h>
int main(void) {
    gaspi_rank_t me, n;
    gaspi_pointer_t p;
    gaspi_notification_id_t ids[2];
    gaspi_notification_t was_one;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_proc_num(&n);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &p);
    int *a = p;
BODY
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
"""
BODIES = {
    "a blocking put and a fence": (SHMEM, """
    if (me == 0) {
        shmem_long_put_nbi(&data, &v, 1, 1);
        v = 0;
        shmem_int_p(&flag, 1, 1);
    }""", 3, ["shmem_long_put(&data, &v, 1, 1)", "shmem_fence();"]),
    "a write with a notification, and a wait": (GASPI, """
    a[0] = me + 5;
    gaspi_write(0, 0, (me + 1) % n, 0, 8, 4, 0, GASPI_BLOCK);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    printf("%d\\n", a[2]);
    a[0] = 7;
    gaspi_wait(0, GASPI_BLOCK);""", 10, [
        "gaspi_write_notify(0, 0, (me + 1) % n, 0, 8, 4, 0, 1, 0, GASPI_BLOCK)", "gaspi_wait(0, GASPI_BLOCK);"
    ]),
    "another queue, and a wait for that": (GASPI, """
    if (me == 0) {
        a[0] = 5;
        gaspi_write(0, 0, 1, 0, 8, 4, 0, GASPI_BLOCK);
        a[1] = 6;
        gaspi_write(0, 4, 1, 0, 12, 4, 1, GASPI_BLOCK);
        a[0] = 7;
        gaspi_notify(0, 1, 3, 1, 1, GASPI_BLOCK);
        gaspi_wait(1, GASPI_BLOCK);
    } else {
        gaspi_notify_waitsome(0, 3, 1, &ids[0], GASPI_BLOCK);
        gaspi_notify_reset(0, ids[0], &was_one);
        printf("%d %d\\n", a[2], a[3]);
    }""", 5, ["gaspi_write(0, 0, 1, 0, 8, 4, 1, GASPI_BLOCK)", "gaspi_wait(1, GASPI_BLOCK);"]),
    "a reset of an element": (GASPI, """
    a[0] = me + 1; a[1] = me + 2;
    gaspi_write_notify(0, 0, (me + 1) % n, 0, 8, 4, 5, 1, 0, GASPI_BLOCK);
    gaspi_notify_waitsome(0, 5, 1, &ids[0], GASPI_BLOCK);
    printf("%d\\n", a[2]);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_write_notify(0, 4, (me + 1) % n, 0, 12, 4, 5, 1, 0, GASPI_BLOCK);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_notify_waitsome(0, 5, 1, &ids[1], GASPI_BLOCK);
    printf("%d\\n", a[3]);""", 6, ["{ gaspi_notification_t was; gaspi_notify_reset(0, ids[0], &was); }"]),
    "macros": (SHMEM, """
    if (me == 0) {
        PUT(&data, &v);
        shmem_int_p(&flag, 1, 1);
    }""", 1, ["shmem_fence();"]),
    "a macro without arguments": (SHMEM, """
    if (me == 0) {
        SEND;
        shmem_int_p(&flag, 1, 1);
    }""", 1, ["shmem_fence();"]),
    "a directive before what an if governs": (SHMEM, """
    if (me == 0) shmem_long_p(&data, 7, 1);
    if (me == 0)
#ifdef TRACE
        printf("signal\\n");
#else
        shmem_int_p(&flag, 1, 1);
#endif""", 1, ["shmem_fence();"]),
    "a directive around an if": (SHMEM, """
    if (me == 0) shmem_long_p(&data, 7, 1);
#ifndef TRACE
    if (me == 0)
#endif
        shmem_int_p(&flag, 1, 1);""", 1, ["shmem_fence();"]),
    "a pragma before a loop": (SHMEM, """
    if (me == 0) {
        shmem_long_put(&data, &v, 1, 1);
#pragma GCC unroll 2
        for (int i = 0; i < 1; i++)
            shmem_int_p(&flag, 1, 1);
    }""", 1, ["shmem_fence();"]),
}  # fmt: skip


POLLED = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int me, *buf; MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &buf, &win);
    MPI_Win_lock_all(0, win);
    int one = 1, val = 3, seen = 0;
    if (me == 0) {
        MPI_Put(&val, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Accumulate(&one, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, win);
    } else {
        do {
            MPI_Get(&seen, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
        } while (seen == 0);
        printf("%d\\n", buf[0]);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
"""


def test_what_is_waited_for_may_be_computed_away() -> None:
    """A flush behind the get makes its loop a poll, which reads at another place than the loop before."""
    found = repaired(POLLED)
    assert found.state == "repaired" and found.answers[0].cost == 6 + 4
    assert sorted(each.kind for each in found.answers[0].candidates) == ["completion", "local completion"]


def text_of(name: str) -> str:
    around, body, _, _ = BODIES[name]
    return around.replace("BODY", body.removeprefix("\n"))


def repaired(text: str) -> Repair:
    return repair(parse_c(text, "p.c"), lambda changed: parse_c(changed, "p.c"), (2,))


@pytest.mark.parametrize("name", BODIES)
def test_the_cheapest(name: str) -> None:
    found = repaired(text_of(name))
    _, _, cost, texts = BODIES[name]
    assert found.state == "repaired" and found.answers[0].cost == cost
    assert all(check(parse_c(answer.text), 2).verdict == "robust" for answer in found.answers)
    assert sorted(texts) in [sorted(each.text for each in answer.candidates) for answer in found.answers]


def test_nothing_is_put_between_a_condition_and_what_it_governs() -> None:
    for name in ("a directive before what an if governs", "a directive around an if"):
        found = repaired(text_of(name))
        assert any("{ shmem_fence(); shmem_int_p(&flag, 1, 1); }" in answer.text for answer in found.answers)
        assert not any(re.search(r"^ *shmem_fence\(\);\n *shmem_int_p", answer.text, re.M) for answer in found.answers)
    pragma = repaired(text_of("a pragma before a loop"))
    assert all("#pragma GCC unroll 2\n        for" in answer.text for answer in pragma.answers)


EPOCHS = (Path(__file__).parents[2] / "programs/c/mpi/fence_source.c").read_text(encoding="utf-8")


def test_no_flush_in_an_epoch_between_fences() -> None:
    locked = EPOCHS.replace(
        "    MPI_Win_free(",
        "    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);\n    MPI_Win_unlock(0, win);\n    MPI_Win_free(",
    )
    assert locked != EPOCHS
    found = repaired(locked)
    assert not any("flush" in each.text for tried in found.rejected for each in tried.candidates)
    assert not any("flush" in answer.text for answer in found.answers)


def test_what_leaves_a_violation_is_said_in_json() -> None:
    told = repair_to_json("p.c", repaired(text_of("a blocking put and a fence")))
    [first, *_] = told["rejected"]
    assert [each["text"] for each in first["steps"]] == ["shmem_long_put(&data, &v, 1, 1)"]
    assert first["why"].startswith(
        "a violation is left: Rank 1 reads data in line 17 before the shmem_long_put of rank 0"
    )


LOCKED = """#include <mpi.h>
int main(int argc, char **argv) {
    int me, *buf, val = 3; MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &buf, &win);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&val, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        val = 4;
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("call_of_rank_0", ["MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_flush_local"])
def test_no_call_that_its_library_does_not_allow_there(call_of_rank_0: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried with others again. Only rank 1 has been locked."""
    before, nobody_has_locked_it = remedies.insertions, f"{{ MPI_Win_flush(1, win); {call_of_rank_0}(0, win); }}"

    def further(call: CallText, text: str) -> Iterator[remedies.Remedy]:
        yield from before(call, text)
        if call.name == "MPI_Put":
            yield "completion", nobody_has_locked_it

    monkeypatch.setattr(remedies, "insertions", further)
    found = repair(parse_c(LOCKED, "p.c"), lambda changed: parse_c(changed, "p.c"), (2,), Costs(completion=1), 50)
    assert sorted(each.text for answer in found.answers for each in answer.candidates) == [
        "MPI_Win_flush(1, win);", "MPI_Win_flush_all(win);"
    ]  # fmt: skip
    assert [each.text for tried in found.rejected for each in tried.candidates] == [nobody_has_locked_it]
    assert f"on 2 nodes a call is not allowed: {call_of_rank_0} of rank 0" in found.rejected[0].why


ROUNDS = """#include <shmem.h>
static long y[4];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) {
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++)
                shmem_long_p(&y[j], i + j, 1);
        }
    }
    shmem_finalize();
    return 0;
}
"""


def test_a_place_between_the_rounds_of_a_loop_that_is_written_out() -> None:
    """Within the inner loop a fence is needed nine times as often as outside."""
    found = repaired(ROUNDS)
    assert [(answer.cost, [each.line for each in answer.candidates]) for answer in found.answers] == [
        (3, [8]),
        (3, [10]),
    ]
