"""What front ends say of the accesses of C programs: atomic or not, in which type, to which bytes, to whose memory."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.races.access_facts import Fact, facts_of, made_up

SHMEM = """
#include <shmem.h>
#include <stdint.h>
int x, y, flag, a[4]; long l, lock; unsigned u; uint64_t sig; float f; double d; size_t z; long long ll;
union {{ int64_t w; struct {{ int32_t lo, hi; }} h; }} pair;
int main(void) {{ shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes(); {} shmem_barrier_all(); return 0; }}
"""
MPI = """
#include <mpi.h>
int main(int argc, char **argv) {{
  MPI_Init(&argc, &argv); int me, *base; static int v = 1, old; MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Win w;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w); MPI_Win_lock_all(0, w);
  {} MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); return 0; }}
"""
GASPI = """
#include <GASPI.h>
int main(void) {{
  gaspi_proc_init(GASPI_BLOCK); gaspi_rank_t me; gaspi_proc_rank(&me); gaspi_notification_id_t got;
  gaspi_notification_t value; gaspi_atomic_value_t old;
  gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  {} gaspi_proc_term(GASPI_BLOCK); return 0; }}
"""
ARMCI = """
#include <armci.h>
int main(int argc, char **argv) {{
  ARMCI_Init(); int me = armci_msg_me(); static int v = 1, one = 1; void *p[2]; ARMCI_Malloc(p, 64);
  ARMCI_Create_mutexes(1); {} ARMCI_Barrier(); ARMCI_Finalize(); return 0; }}
"""
GASNET = """
#include <gasnet.h>
int main(int argc, char **argv) {{
  gasnet_init(&argc, &argv); gasnet_attach(0, 0, 65536, 0); gasnet_seginfo_t info[2];
  gasnet_getSegmentInfo(info, 2); int me = gasnet_mynode(), *there = info[1 - me].addr; int *own = info[me].addr;
  {} gasnet_barrier_notify(0, 1); gasnet_barrier_wait(0, 1); gasnet_exit(0); return 0; }}
"""
GPI = """
#include <GPI.h>
int main(int argc, char **argv) {{
  startGPI(argc, argv, "", 64); unsigned long old; {} barrierGPI(); shutdownGPI(); return 0; }}
"""


def instance(text: str, shared: str = "none") -> Instance:
    return parse_c(text, "p.c", FrontEnd(shared_memory=shared)).instantiate(2, DEFAULT_READING.by_value)


def accesses(text: str, shared: str = "none") -> list[str]:
    """The accesses of rank 0 to memory of the source, in order: what they do, at which cell, and what is known."""
    lowered = instance(text, shared)
    internal = made_up(lowered.program)
    found: list[str] = []
    seen: set[int] = set()
    for leaving in lowered.automata[0].out:
        for edge in leaving:
            if edge.occurrence in seen:
                continue
            seen.add(edge.occurrence)
            operands = lowered.operands(0, edge, lowered.registers)
            for made, fact in zip(core.accesses_of(operands), facts_of(edge), strict=True):
                if lowered.index(made.cell) not in internal:
                    mode = "r" * made.reads + "w" * made.writes
                    found.append(" ".join(filter(None, (mode, lowered.cell_name(made.cell), told(fact)))))
    return found


def told(fact: Fact) -> str:
    by = f" by {fact.by}" if fact.by else ""
    bytes = "" if fact.bytes is None else f"[{fact.bytes[0]}-{fact.bytes[1] - 1}]"
    return " ".join(filter(None, (fact.atomic + by, bytes, "waits" * fact.waits)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # What moves data is plain on both sides, single values too.
        ("shmem_int_p(&x, 1, 1);", "w x@1"),
        ("y = shmem_int_g(&x, 1);", "r x@1, w y@0"),
        ("shmem_int_put(a, &x, 1, 1);", "r x@0, w a[0]@1"),
        ("shmem_int_get_nbi(&y, &x, 1, 1); shmem_quiet();", "r x@1, w y@0"),
        # Atomics are at their target, in the type of the call; results are plain.
        ("shmem_int_atomic_add(&x, 1, 1);", "rw x@1 int"),
        ("y = shmem_int_atomic_fetch(&x, 1);", "r x@1 int, w y@0"),
        ("shmem_float_atomic_set(&f, 1, 1);", "w f@1 float"),
        ("shmem_double_atomic_swap(&d, 1.0, 1);", "rw d@1 double"),
        ("shmem_long_atomic_inc(&l, 1);", "rw l@1 long"),
        ("l = shmem_long_atomic_compare_swap(&l, 0, 1, 1);", "rw l@1 long, w l@0"),
        ("shmem_uint_atomic_fetch_xor(&u, 1, 1);", "rw u@1 unsigned int"),
        ("shmem_atomic_fetch_add_nbi(&y, &x, 1, 1);", "rw x@1 int, w y@0"),
        ("shmem_atomic_fetch_nbi(&y, &x, 1);", "r x@1 int, w y@0"),
        ("shmem_long_atomic_compare_swap_nbi(&l, &l, 1, 2, 1);", "rw l@1 long, w l@0"),
        # `long long` is as `long` is, but an unsigned integer is another type.
        ("shmem_longlong_atomic_inc(&ll, 1);", "rw ll@1 long"),
        ("shmem_size_atomic_add(&z, 1, 1);", "rw z@1 unsigned long by atomic"),
        # Signals, and what looks at them.
        ("shmem_uint64_atomic_add(&sig, 1, 1);", "rw sig@1 unsigned long by atomic"),
        (
            "shmem_int_put_signal(a, &x, 1, &sig, 1, SHMEM_SIGNAL_ADD, 1);",
            "r x@0, w a[0]@1, rw sig@1 unsigned long by signal add",
        ),
        ("shmem_signal_set(&sig, 1, 1);", "w sig@1 unsigned long by signal set"),
        ("shmem_signal_add(&sig, 1, 1);", "rw sig@1 unsigned long by signal add"),
        (
            "shmem_uint64_p(&sig, 1, 1); l = shmem_signal_fetch(&sig);",
            "w sig@1, r sig@0 unsigned long by signal, w l@0",
        ),
        (
            "shmem_uint64_p(&sig, 1, 1); l = shmem_signal_wait_until(&sig, SHMEM_CMP_GT, 0);",
            "w sig@1, r sig@0 unsigned long waits, r sig@0 unsigned long, w l@0",
        ),
        # Waits, and tests and loads in polling loops; other tests are atomic alone.
        ("shmem_int_p(&flag, 1, 1); shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);", "w flag@1, r flag@0 int waits"),
        ("shmem_long_p(&l, 1, 1); shmem_wait(&l, 0);", "w l@1, r l@0 long waits"),
        ("shmem_int_p(a, 1, 1); shmem_int_wait_until_any(a, 1, 0, SHMEM_CMP_EQ, 1);", "w a[0]@1, r a[0]@0 int waits"),
        ("shmem_int_p(&x, 1, 1); while (!shmem_int_test(&x, SHMEM_CMP_EQ, 1)) ;", "w x@1, r x@0 int waits"),
        ("shmem_int_p(&x, 1, 1); if (shmem_int_test(&x, SHMEM_CMP_EQ, 1)) y = 1;", "w x@1, r x@0 int"),
        ("shmem_int_p(a, 1, 1); y = shmem_int_test_all(a, 1, NULL, SHMEM_CMP_EQ, 1);", "w a[0]@1, r a[0]@0 int"),
        ("shmem_int_p(&flag, 1, 1); while (flag == 0) ;", "w flag@1, r flag@0 waits"),
        ("shmem_int_p(&flag, 1, 1); if (flag == 0) y = 1;", "w flag@1, r flag@0"),
        # Locks are variables.
        ("shmem_set_lock(&lock); shmem_clear_lock(&lock);", "rw lock@0 lock, rw lock@0 lock"),
        ("shmem_test_lock(&lock);", "rw lock@0 lock, r lock@0 lock waits"),
        # The compiler's atomics are none of the library's.
        (
            "shmem_int_p(&x, 1, 1); y = __atomic_load_n(&x, 5); __sync_fetch_and_add(&x, 2);",
            "w x@1, r x@0 _Atomic int, w y@0, rw x@0 _Atomic int",
        ),
        ("shmem_uint_p(&u, 1, 1); __atomic_store_n(&u, 2, 5);", "w u@1, rw u@0 _Atomic int"),
        (
            "shmem_int_p(&x, 1, 1); __sync_bool_compare_and_swap(&x, 0, 1);",
            "w x@1, rw x@0 _Atomic int",
        ),
        # Parts of cells.
        ("pair.h.hi = 1; l = shmem_int64_atomic_fetch(&pair.w, 1);", "w pair.w@0 [4-7], r pair.w@1 long, w l@0"),
        (
            "shmem_int64_p(&pair.w, 1, 1); y = pair.h.lo; pair.h.hi = y;",
            "w pair.w@1, r pair.w@0 [0-3], w y@0, r y@0, r pair.w@0 [4-7], rw pair.w@0 [4-7]",
        ),
        # Collectives read and write the program's memory as it does.
        (
            "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &x, &y, 1); shmem_int_p(&x, 1, 1); shmem_int_p(&y, 1, 1);",
            "r y@0, w x@0, w x@1, w y@1",
        ),
        (
            "shmem_int_broadcast(SHMEM_TEAM_WORLD, a, &x, 1, 0); shmem_int_p(&x, 1, 1);",
            "r x@0, w a[0]@1, r x@0, w a[0]@0, w x@1",
        ),
    ],
)
def test_openshmem(body: str, expected: str) -> None:
    assert ", ".join(accesses(SHMEM.format(body))) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int *p = shmem_ptr(&x, 1); *p = 1; __sync_fetch_and_add(p, 1);", "w x@1, rw x@1 _Atomic int"),
        (
            "int64_t *p = shmem_ptr(&pair.w, 1); int32_t *q = shmem_ptr(&pair.h.hi, 1); *p = 1; *q = 2; a[0] = *q;",
            "w pair.w@1, r pair.w@1 [4-7], rw pair.w@1 [4-7], r pair.w@1 [4-7], w a[0]@0",
        ),
    ],
)
def test_memory_that_ranks_share(body: str, expected: str) -> None:
    assert ", ".join(accesses(SHMEM.format(body), "all")) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("MPI_Put(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w);", "r v@0, w base[0]@1"),
        ("MPI_Get(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w); base[0] = 3;", "r base[0]@1, w v@0, w base[0]@0"),
        ("MPI_Accumulate(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, w);", "r v@0, rw base[0]@1 MPI_INT by sum"),
        (
            "MPI_Accumulate(&v, 1, MPI_INT32_T, 1, 0, 1, MPI_INT32_T, MPI_REPLACE, w);",
            "r v@0, w base[0]@1 MPI_INT32_T by replace",
        ),
        ("MPI_Fetch_and_op(&v, &old, MPI_UNSIGNED, 1, 0, MPI_NO_OP, w);", "r base[0]@1 MPI_UNSIGNED, w old@0"),
        (
            "MPI_Get_accumulate(&v, 1, MPI_INT, &old, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_BOR, w);",
            "r v@0, rw base[0]@1 MPI_INT by or, w old@0",
        ),
        (
            "MPI_Compare_and_swap(&v, &v, &old, MPI_LONG_LONG_INT, 1, 0, w);",
            "r v@0, r v@0, rw base[0]@1 MPI_LONG_LONG by compare_swap, w old@0",
        ),
    ],
)
def test_mpi(body: str, expected: str) -> None:
    wide = MPI.replace("static int v", "static long long v").replace("*base;", "dummy; long long *base;")
    text = (wide if "LONG_LONG" in body else MPI).format(body)
    assert ", ".join(accesses(text)) == expected


@pytest.mark.parametrize(
    ("text", "body", "expected"),
    [
        (GASPI, "gaspi_atomic_fetch_add(0, 0, 1, 1, &old, GASPI_BLOCK);", "rw segment_0[0]@1 unsigned long, w old@0"),
        (
            GASPI,
            "gaspi_atomic_compare_swap(0, 0, 1, 1, 2, &old, GASPI_BLOCK);",
            "rw segment_0[0]@1 unsigned long, w old@0",
        ),
        # Notifications are no memory of the program.
        (
            GASPI,
            "gaspi_write_notify(0, 0, 1, 0, 8, 8, 3, 1, 0, GASPI_BLOCK); "
            "gaspi_notify_waitsome(0, 3, 1, &got, GASPI_BLOCK); gaspi_notify_reset(0, got, &value);",
            "r segment_0[0]@0, w segment_0[1]@1, w value@0",
        ),
        (ARMCI, "ARMCI_PutValueInt(1, p[1 - me], 1 - me);", "w p[me][0]@1"),
        (ARMCI, "v = ARMCI_GetValueInt(p[1 - me], 1 - me);", "r p[me][0]@1, w v@0"),
        (ARMCI, "ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &v, p[1 - me], 1, 1 - me);", "rw p[me][0]@1 int by rmw, w v@0"),
        (ARMCI, "ARMCI_Acc(ARMCI_ACC_INT, &one, &v, p[1 - me], 4, 1 - me);", "rw p[me][0]@1 int by accumulate"),
        (
            ARMCI,
            "ARMCI_Put_flag(&v, p[1 - me], 4, (int *)p[1 - me] + 1, 1, 1 - me);",
            "r v@0, w p[me][0]@1, w p[me][1]@1",
        ),
        (ARMCI, "ARMCI_Lock(0, 0); ARMCI_Unlock(0, 0); armci_notify(1 - me); armci_notify_wait(1 - me, 0);", ""),
        (GASNET, "gasnet_put_val(1 - me, there, 1, 4);", "w own[0]@1"),
        (GASNET, "own[0] = gasnet_get_val(1 - me, there, 4);", "r own[0]@1, w own[0]@0"),
        (GASNET, "gasnet_memset(1 - me, there, 0, 4);", "w own[0]@1"),
        (GASNET, "gasnet_put(1 - me, there, own, 4);", "r own[0]@0, w own[0]@1"),
        (GPI, "old = atomicFetchAddCntGPI(1, 0); if (!globalResourceLockGPI()) globalResourceUnlockGPI();", ""),
        (GPI, "writeDmaGPI(0, 8, 8, 1, 0); waitDmaGPI(0);", "r dma[0]@0, w dma[1]@1"),
    ],
)
def test_other_libraries(text: str, body: str, expected: str) -> None:
    assert ", ".join(accesses(text.format(body))) == expected


def test_facts_can_be_read_back() -> None:
    """`pgasrob show` prints what decides about races."""
    body = """if (me) { shmem_int_atomic_set(&x, 1, 0); shmem_set_lock(&lock); shmem_clear_lock(&lock); }
    else { shmem_int_put_signal(a, &x, 1, &sig, 1, SHMEM_SIGNAL_ADD, 1); shmem_uint64_wait_until(&sig, SHMEM_CMP_GT, 0);
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &x, &y, 1); y = shmem_int_g(&x, 1); }"""
    lowered = parse_c(SHMEM.format(body)).program(2)
    back = parse(to_source(lowered))
    assert made_up(back) == made_up(lowered) != frozenset()
    for one, other in zip(lowered.instantiate().automata, back.instantiate().automata, strict=True):
        told = [[facts_of(edge) for edge in automaton.transitions] for automaton in (one, other)]
        assert told[0] == told[1] and any(fact.atomic for facts in told[0] for fact in facts)
