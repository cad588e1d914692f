"""Gets of polling loops as fetches: where they become such, and that it changes no verdict."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

import pgasrob
from pgasrob.frontends.c import driver
from pgasrob.frontends.c.arrivals import into_registers
from pgasrob.frontends.c.world import World
from pgasrob.frontends.lower import parse_c
from pgasrob.program.declarations import Process
from tests.frontends.apis.lowering import processes

SHMEM = """#include <shmem.h>
static int x, y, seen, set = 1;
int main(void) { shmem_init(); int me = shmem_my_pe(), other = 1 - me, v = 0, u = 0; (void)me; (void)v; (void)u;
%s
return 0; }"""
MPI = """#include <mpi.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); int me, one = 1, v, *m; MPI_Win w;
MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w);
MPI_Win_lock_all(0, w);
%s
MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); return 0; }"""

GET = "do { shmem_int_get(&v, &x, 1, other); } while (v == 0);"
FETCHED = {
    SHMEM % GET: True,
    SHMEM % "do { shmem_int_get_nbi(&v, &x, 1, other); shmem_quiet(); } while (v == 0);": True,
    SHMEM % "do { shmem_int_atomic_fetch_nbi(&v, &x, other); shmem_quiet(); } while (v == 0);": True,
    SHMEM % "do { shmem_int_get(&seen, &x, 1, other); } while (seen == 0);": True,
    # Something else may happen before it arrives, or nobody waits for it.
    SHMEM % "y = x; do { shmem_int_get_nbi(&v, &x, 1, other); u = x; shmem_quiet(); } while (v == u);": False,
    SHMEM % "do { shmem_int_get_nbi(&v, &x, 1, other); } while (v == 0);": False,
    # Somebody else gets at the variable.
    SHMEM % ("shmem_int_p(&seen, 1, other);" + GET.replace("&v", "&seen").replace("v ==", "seen ==")): False,
    SHMEM % ("shmem_int_put_nbi(&y, &v, 1, other);" + GET): False,
    SHMEM % (GET + "shmem_int_put_nbi(&y, &v, 1, other);"): False,
    # Registers hold 0 in the beginning.
    SHMEM % "while (set) shmem_int_get(&set, &x, 1, other);": False,
    # The loop does something else.
    SHMEM % "do { shmem_int_get(&v, &x, 1, other); shmem_int_p(&y, v, other); } while (v == 0);": False,
    SHMEM % "shmem_int_get(&v, &x, 1, other); if (v) shmem_int_p(&y, 1, other);": False,
    MPI % "do { MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_flush(0, w); } while (v == 0);": True,
    MPI % "do { MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_flush_all(w); } while (v == 0);": True,
    MPI % "do { MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_flush(1, w); } while (v == 0);": False,
    MPI % "do { MPI_Fetch_and_op(0, &v, MPI_INT, 0, 0, MPI_NO_OP, w); MPI_Win_flush(0, w); } while (v == 0);": True,
    # An atomic of the same rank at the same place comes first, and may still be on its way.
    MPI % (
        "MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);"
        "do { MPI_Fetch_and_op(0, &v, MPI_INT, 0, 0, MPI_NO_OP, w); MPI_Win_flush(0, w); } while (v == 0);"
    ): False,
    MPI % (
        "MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, w);"
        "do { MPI_Fetch_and_op(0, &v, MPI_INT, 0, 0, MPI_NO_OP, w); MPI_Win_flush(0, w); } while (v == 0);"
    ): True,
}  # fmt: skip


@pytest.mark.parametrize(("text", "fetched"), FETCHED.items())
def test_which_gets_are_fetched(text: str, fetched: bool) -> None:
    lines = processes(text)[0]
    assert any("<- fetch(" in line for line in lines) is fetched, lines
    assert any(" read(" in f" {line}" or "(fetch, " in line for line in lines) is not fetched, lines


def test_a_queue_that_keeps_the_order_is_empty_before() -> None:
    text = """#include <GPI.h>
    int main(int argc, char **argv) { startGPI(argc, argv, "", 64); int *m = getDmaMemPtrGPI(), me = getRankGPI(); %s
    do { readDmaGPI(0, 8, 4, 1 - me, 0); waitDmaGPI(0); } while (m[0] == 0); return 0; }"""
    assert any("<- fetch(" in line for line in processes(text % "")[0])
    assert not any("<- fetch(" in line for line in processes(text % "m[1] = 1; writeDmaGPI(4, 4, 4, 1 - me, 0);")[0])


def test_a_struct_that_keeps_what_a_poll_has_seen_is_in_registers() -> None:
    """In memory its counter of rounds would make ever new states of one poll."""
    round = "s.last = shmem_int_atomic_fetch(&x, me); s.rounds++;"
    poll = f"struct {{ int last, rounds; }} s = {{0, 0}}; do {{ {round} }} while (!s.last);"
    text = SHMEM % (f"if (me) {{ shmem_int_p(&x, 1, 0); }} else {{ {poll} }}")
    assert not any("mem[" in line for line in processes(text)[0])
    other = text.replace("s.rounds++;", "s.rounds++; shmem_int_p(&y, s.rounds, 1);")
    assert any("mem[" in line for line in processes(other)[0])


STATEMENTS = (
    "shmem_int_p(&x, {k}, other);", "shmem_int_p(&y, {k}, other);", "x = {k};", "y = {k};", "u = x;", "u = y;",
    "shmem_int_get(&v, &y, 1, other);", "shmem_int_get(&v, &x, 1, me);", "shmem_fence();", "shmem_quiet();",
    "do {{ shmem_int_get(&v, &x, 1, other); }} while (v == {k});",
    "do {{ shmem_int_get(&v, &y, 1, me); }} while (v == {k});",
    "do {{ shmem_int_get_nbi(&v, &y, 1, other); shmem_quiet(); }} while (v == {k});",
    "do {{ shmem_int_atomic_fetch_nbi(&v, &x, me); shmem_quiet(); }} while (v == {k});",
    "shmem_int_get(&v, &x, 1, other); while (v == {k}) shmem_int_get(&v, &x, 1, other);",
    "do {{ shmem_int_get(&v, &x, 1, me); if (v != {k}) break; shmem_int_get(&v, &y, 1, me); }} while (v == {k});",
    "if (v) shmem_int_p(&y, v, me);", "v = u;", "shmem_int_p(&x, v, other);",
)  # fmt: skip


def random_program(seed: int) -> str:
    choose = random.Random(seed)
    ranks = []
    for _ in range(2):
        chosen = [choose.choice(STATEMENTS) for _ in range(choose.randint(2, 4))]
        chosen.insert(choose.randrange(len(chosen)), choose.choice(STATEMENTS[10:16]))
        chosen.insert(0, choose.choice(STATEMENTS[:2]))
        ranks.append(" ".join(each.format(k=choose.choice((0, 0, 0, 1))) for each in chosen))
    return SHMEM % f"if (me == 0) {{ {ranks[0]} }} else {{ {ranks[1]} }}\nu = x; u = y;"


def test_random_programs_keep_their_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = 0
    found: Counter[str] = Counter()

    def count(world: World, processes: Sequence[Process]) -> tuple[Process, ...]:
        nonlocal changed
        after = into_registers(world, processes)
        changed += after != tuple(processes)
        return after

    for seed in range(15):
        text = random_program(seed)
        monkeypatch.setattr(driver, "into_registers", lambda world, processes: tuple(processes))
        through_memory = pgasrob.check(parse_c(text), 2, failed_polls="count", effect=False)
        monkeypatch.setattr(driver, "into_registers", count)
        by_fetches = pgasrob.check(parse_c(text), 2, failed_polls="count", effect=False)
        assert by_fetches.verdict == through_memory.verdict, text
        assert by_fetches.deadlock == through_memory.deadlock, text
        found[by_fetches.verdict] += 1
    assert changed == CHANGED and found == VERDICTS


CHANGED, VERDICTS = 15, Counter({"not robust": 11, "robust": 4})
