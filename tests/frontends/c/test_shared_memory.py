"""Ranks that share memory: loads and stores of another rank's cells, through what the APIs give for them."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd, neighbours
from pgasrob.program.assumptions import Kind

SOURCE = """
#include <shmem.h>
#include <stddef.h>
#include <string.h>
static long x, y, z, a[4];
static struct pair {{ int first; double second; }} s;
int main(void) {{
  shmem_init();
  int me = shmem_my_pe();
  long one = 1, r = 0, b[4] = {{1, 2, 3, 4}};
  {body}
  shmem_barrier_all();
  shmem_finalize();
}}
"""


def text(body: str, head: str = "") -> str:
    return head + SOURCE.format(body=body)


def verdict(body: str, shared: str = "all", nodes: int = 2) -> str:
    found = check(parse_c(text(body), options=FrontEnd(shared_memory=shared)), nodes)
    assert found.verdict == "error" or found.deadlock is False
    return found.verdict


def both(zero: str, one: str) -> str:
    return f"if (me == 0) {{ {zero} }} else {{ {one} }}"


PX, PY, PZ = (f"long *p{name} = shmem_ptr(&{name}, 1 - me);" for name in "xyz")
SEEN = "shmem_long_wait_until(&y, SHMEM_CMP_EQ, 1); if (x != 1) *(int *)0 = 0;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Store buffering: a put is late, a store through a pointer is not.
        (PX + PY + both("*px = 1; r = y;", "*py = 1; r = x;"), "robust"),
        (PY + both("shmem_long_p(&x, 1, 1); r = *py;", "y = 1; r = x;"), "not robust"),
        (PY + both("shmem_long_p(&x, 1, 1); shmem_quiet(); r = *py;", "y = 1; r = x;"), "robust"),
        # The only write to y is late, and nobody writes x: a load is no write.
        (PX + both("shmem_long_p(&y, 1, 1); r = *px;", "r = x; r = y;"), "robust"),
        # Message passing: data by one way, the flag by another.
        (PX + PY + both("*px = 1; *py = 1;", SEEN), "robust"),
        (PX + both("*px = 1; shmem_long_p(&y, 1, 1);", SEEN), "robust"),
        (PY + both("shmem_long_p(&x, 1, 1); shmem_quiet(); *py = 1;", SEEN), "robust"),
        (PX + PY + both("memcpy(px, &one, sizeof one); *py = 1;", SEEN), "robust"),
        (PX + PY + both("*px = 7; memset(px, 0, sizeof *px); *px += 1; *py = 1;", SEEN), "robust"),
        # Parts of a scalar
        (PX + "int *half = (int *)px;" + both(
            "half[1] = 5; half[0] = 3; if (*px != (5L << 32) + 3) *(int *)0 = 0; *px = (7L << 32) + 9;"
            "if (half[0] != 9 || half[1] != 7) *(int *)0 = 0; shmem_barrier_all();",
            "shmem_barrier_all(); if (x != (7L << 32) + 9 || ((int *)&x)[1] != 7) *(int *)0 = 0;"), "robust"),
        # Atomics of the processor
        (PX + "__sync_fetch_and_add(px, 1); __sync_fetch_and_add(&x, 1); shmem_barrier_all();"
         "if (x != 2) *(int *)0 = 0;", "robust"),
        (PX + both("while (!__sync_bool_compare_and_swap(px, 0, 1)) ; *px = 0;", "x = 1; __sync_lock_release(&x);"),
         "robust"),
        (PX + PY + both("shmem_long_p(&x, 1, 1); r = __sync_fetch_and_add(py, 0);", "y = 1; r = x;"), "not robust"),
        # A polling loop on the memory of another rank is a wait.
        (PX + both("while (*px == 0) ; r = y;", "x = 1; shmem_long_p(&y, 1, 0);"), "robust"),
        # What a rank has stored in its own memory is not known any more when another rank stores there.
        (PX + both("x = 5; shmem_barrier_all(); if (x != 6) *(int *)0 = 0;", "*px = 6; shmem_barrier_all();"), "error"),
        (PX + both("x = 5; shmem_barrier_all(); shmem_barrier_all(); if (x != 6) *(int *)0 = 0;",
                   "shmem_barrier_all(); *px = 6; shmem_barrier_all();"), "robust"),
        # Copies to and from another rank's memory, one over the other.
        ("long *pa = shmem_ptr(a, 1 - me);" + both(
            "memcpy(pa, b, sizeof b); memmove(pa + 1, pa, 3 * sizeof *pa); memcpy(b, pa, sizeof b);"
            "if (b[0] != 1 || b[1] != 1 || b[2] != 2 || b[3] != 3) *(int *)0 = 0;", ""), "robust"),
        ("struct pair *ps = shmem_ptr(&s, 1 - me), t = {7, 2.5};" + both(
            "*ps = t; shmem_barrier_all();", "shmem_barrier_all(); if (s.first != 7 || s.second != 2.5) *(int *)0 = 0;"
        ), "robust"),
    ],
)  # fmt: skip
def test_loads_and_stores_of_another_rank(body: str, expected: str) -> None:
    assert verdict(body) == expected


@pytest.mark.parametrize(
    ("shared", "sharing"),
    [("none", [[0], [1], [2], [3]]), ("all", [[0, 1, 2, 3]] * 4), ("nodes=3", [[0, 1, 2]] * 3 + [[3]])],
)
def test_who_shares(shared: str, sharing: list[list[int]]) -> None:
    """shmem_ptr and SHMEM_TEAM_SHARED say the same."""
    assert [list(neighbours(shared, rank, 4)) for rank in range(4)] == sharing
    table = ", ".join(f"{{{', '.join(str(int(other in members)) for other in range(4))}}}" for members in sharing)
    counts = ", ".join(str(len(members)) for members in sharing)
    body = f"""int shares[4][4] = {{{table}}}, counts[4] = {{{counts}}};
    for (int i = 0; i < 4; i++) if ((shmem_ptr(&x, i) != NULL) != shares[me][i]) *(int *)0 = 0;
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) != counts[me]%s) *(int *)0 = 0;"""
    assert verdict(body % "", shared, nodes=4) == "robust"
    assert verdict(body % " + 1", shared, nodes=4) == "error"


def test_the_head_of_the_file_says_it_unless_the_command_line_does() -> None:
    source = text("if (shmem_ptr(&x, 1 - me) == NULL) *(int *)0 = 0;", "// expect: robust\n// shared-memory: all\n")
    assert check(parse_c(source), 2).verdict == "robust"
    assert check(parse_c(source, options=FrontEnd(shared_memory="none")), 2).verdict == "error"
    with pytest.raises(SourceError, match="'some' does not say which ranks share memory"):
        parse_c(text("", "// shared-memory: some\n"))


def test_the_verdict_says_what_was_taken_for_granted() -> None:
    def assumed(shared: str) -> dict[Kind, tuple[tuple[str, ...], tuple[int, ...]]]:
        program = parse_c(text(PX + "if (px) *px = 1;"), options=FrontEnd(shared_memory=shared)).program(4)
        return {each.kind: (each.about, each.lines) for each in program.assumptions}

    assert assumed("none")[Kind.SEPARATE_MEMORY] == (("shmem_ptr",), (11,))
    assert Kind.SHARED_MEMORY not in assumed("none")
    assert assumed("nodes=2")[Kind.SHARED_MEMORY] == (("blocks of ranks (nodes=2)",), (11,))
    assert Kind.SEPARATE_MEMORY not in assumed("all")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (PX + "shmem_long_put(&y, px, 1, 0);", "argument 2 `px` of `shmem_long_put` points into the memory of rank 1"),
        (PX + "shmem_long_put(px, &y, 1, 0);", "argument 1 `px` of `shmem_long_put` points into the memory of rank 1"),
        ("__sync_lock_test_and_set(&x);", "`__sync_lock_test_and_set` is called with 1 arguments"),
        ("__sync_bool_compare_and_swap(&x, 1);", "`__sync_bool_compare_and_swap` is called with 2 arguments"),
        (PX + "memset(px, 1, sizeof *px);", "`memset` sets the memory of another rank to 1"),
        (PX + "strcpy((char *)px, \"a\");", "points into the memory of rank 1"),
        (PY + "shmem_long_p(&x, 1, 1); shmem_fence(); *py = 1;", "set through a pointer behind a fence of puts"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_said(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message.replace("(", r"\(")):
        parse_c(text(body), options=FrontEnd(shared_memory="all")).program(2)


def test_a_fence_without_puts_before_it_to_that_rank_orders_nothing() -> None:
    assert verdict(PX + PY + both("shmem_long_p(&z, 1, 0); shmem_fence(); *px = 1; *py = 1;", SEEN)) == "robust"
    assert verdict(PX + PY + both("*px = 1; shmem_fence(); *py = 1;", SEEN)) == "robust"


def test_memory_of_other_apis() -> None:
    """ARMCI gives everybody's addresses in any case, GASNet what the owner knows them by, and those of neighbours."""
    armci = """
    #include <armci.h>
    int main(int argc, char **argv) {
      void *at[2];
      ARMCI_Init();
      int me = armci_msg_me();
      ARMCI_Malloc(at, sizeof(int));
      if (me == 0) { *(int *)at[1] = 3; ARMCI_Copy(at[1], at[0], sizeof(int)); }
      armci_msg_barrier();
      if (*(int *)at[me] != 3) *(int *)0 = 0;
      ARMCI_Finalize();
    }
    """
    assert check(parse_c(armci, options=FrontEnd(shared_memory="all")), 2).verdict == "robust"
    with pytest.raises(SourceError, match="memory of rank 1 is set through a pointer by rank 0"):
        parse_c(armci).program(2)
    gasnet = """
    #include <gasnetex.h>
    int main(int argc, char **argv) {
      gex_Client_t client; gex_EP_t ep; gex_TM_t tm; gex_Segment_t segment;
      void *there, *here; size_t size;
      gex_Client_Init(&client, &ep, &tm, "test", &argc, &argv, 0);
      gex_Segment_Attach(&segment, tm, 64);
      int me = gex_TM_QueryRank(tm);
      gex_Segment_QueryBound(tm, 1 - me, &there, &here, &size);
      if (me == 0) *(int *)%s = 3;
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      if (me == 1 && *(int *)gex_Segment_QueryAddr(segment) != 3) *(int *)0 = 0;
    }
    """
    shared = FrontEnd(shared_memory="all")
    assert check(parse_c(gasnet.replace("%s", "here"), options=shared), 2).verdict == "robust"
    with pytest.raises(SourceError, match="memory of rank 1 is set through a pointer by rank 0"):
        parse_c(gasnet.replace("%s", "there"), options=shared).program(2)


def test_pointers_to_different_memories_are_not_computed_with() -> None:
    assert verdict(PX + "if (px == &x || px != shmem_ptr(&x, 1 - me)) *(int *)0 = 0;") == "robust"
    for computed in ("r = px - &x;", "r = px < &x;", "r = (long)px - (long)&x;"):
        with pytest.raises(SourceError, match="pointers"):
            parse_c(text(PX + computed), options=FrontEnd(shared_memory="all")).program(2)
