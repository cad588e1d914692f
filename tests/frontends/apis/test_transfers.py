"""Long transfers are loops over their elements, and mean what short ones do."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.c import transferred
from pgasrob.frontends.lower import parse_c
from pgasrob.program.commands import Put, Read, Write
from pgasrob.render.lines import plain
from pgasrob.render.result_report import report
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.reduction import elements
from tests.support import examples

SHMEM = """#include <shmem.h>
static DECLARED src[24], dst[24];
int main(void) {
  shmem_init();
  int other = 1 - shmem_my_pe();
  for (int i = 0; i < 24; i++) src[i] = i;
  CALL
  long sum = 0;
  for (int i = 0; i < READ; i++) sum += dst[i];
  shmem_finalize();
  return sum > 0;
}
"""
GASPI = """#include <GASPI.h>
typedef struct { int a; short b, c; } pair;
int main(void) {
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_rank_t me;
  gaspi_proc_rank(&me);
  gaspi_segment_create(0, 384, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  gaspi_pointer_t p;
  gaspi_segment_ptr(0, &p);
  DECLARED *cells = (DECLARED *)p;
  for (int i = 0; i < 24; i++) cells[i]MEMBER = i;
  gaspi_CALL(0, 0, 1 - me, 0, 192, 24 * sizeof *cells, 0, GASPI_BLOCK);
  WAIT
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  long sum = 0;
  for (int i = 0; i < 24; i++) sum += ((DECLARED *)((char *)p + 192))[i]MEMBER;
  gaspi_proc_term(GASPI_BLOCK);
  return sum > 0;
}
"""


def shmem(call: str, declared: str = "long", read: int = 24) -> str:
    return SHMEM.replace("CALL", call).replace("DECLARED", declared).replace("READ", str(read))


def gaspi(call: str, declared: str, member: str = "", wait: str = "") -> str:
    text = GASPI.replace("CALL", call).replace("DECLARED", declared)
    return text.replace("MEMBER", member).replace("WAIT", wait)


CASES: dict[str, tuple[str, str, bool]] = {
    "put": (shmem("shmem_long_put(dst, src, 24, other); shmem_barrier_all();"), "robust", True),
    "put that is not waited for": (
        shmem("shmem_long_put_nbi(dst, src, 24, other); shmem_sync_all();"),
        "not robust",
        True,
    ),
    "put of other elements": (
        shmem("shmem_long_put_nbi(dst + 5, src, 16, other); shmem_sync_all();", read=5),
        "robust",
        True,
    ),
    "put of which one is read": (
        shmem("shmem_long_put_nbi(dst + 5, src, 16, other); shmem_sync_all();", read=6),
        "not robust",
        True,
    ),
    "put of bytes": (shmem("shmem_putmem(dst, src, 96, other); shmem_sync_all();", "int"), "not robust", True),
    "get": (shmem("shmem_barrier_all(); shmem_long_get(dst, src, 24, other);"), "robust", True),
    "get that is late": (
        shmem("shmem_barrier_all(); shmem_long_get_nbi(dst, src, 24, other); src[3] = 1;"),
        "not robust",
        True,
    ),
    "to oneself, one further": (
        shmem("shmem_long_put_nbi(src + 1, src, 23, shmem_my_pe()); shmem_sync_all();"),
        "not robust",
        True,
    ),
    "outside": (shmem("shmem_long_put(dst + 5, src, 24, other);"), "error", False),
    "write": (gaspi("write", "int", wait="gaspi_wait(0, GASPI_BLOCK);"), "not robust", True),
    "read": (gaspi("read", "long", wait="gaspi_wait(0, GASPI_BLOCK);"), "robust", True),
    "scalars of several sizes": (
        gaspi("write", "pair", ".a", "gaspi_wait(0, GASPI_BLOCK); ((pair *)p)[1].b = 2;"),
        "not robust",
        False,
    ),
}


@pytest.mark.parametrize("case", list(CASES)[:: examples(2, nightly=1)])
def test_they_mean_what_short_ones_do(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, expected, is_loop = CASES[case]
    short = check(parse_c(text), 2, effect=False)
    monkeypatch.setattr(transferred, "LONG_TRANSFER", 7)
    program = parse_c(text)
    made = [
        each for each in program.instantiate(2).automata[0].transitions if isinstance(each.command, Put | Read | Write)
    ]
    assert (len(made) == 1) == is_loop
    for worthwhile in (4, 1_000):
        monkeypatch.setattr(elements, "WORTHWHILE", worthwhile)
        long = check(program, 2, effect=False)
        assert (long.verdict, long.assertions, long.deadlock) == (short.verdict, short.assertions, short.deadlock)
        assert long.verdict == expected


def test_many_elements_cost_what_a_few_do() -> None:
    """With and without the fence between the data and the flag; each rank's data is one family of elements."""
    for fence, verdict in (("shmem_fence();", "robust"), ("", "not robust")):
        few, many = (
            check(
                parse_c(
                    shmem(
                        f"shmem_long_put_nbi(dst, src, {count}, other); {fence} shmem_long_p(&flag, 1, other);"
                        "shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);"
                    )
                    .replace("24", str(count))
                    .replace("static", "static long flag; static")
                ),
                2,
            )
            for count in (2_000, 8_192)
        )
        assert few.verdict == many.verdict == verdict
        assert (few.stats.states, few.stats.transitions) == (many.stats.states, many.stats.transitions)
        assert (few.alike, many.alike) == ((2 * 2_000, 2 * 2), (2 * 8_192, 2 * 2))
        assert to_json(many)["alike"] == {"elements": 2 * 8_192, "shown": 2 * 2}
        told = " ".join(plain(report(to_json(many), 100)).split())
        assert "16,384 elements of memory are accessed alike, and 4 of them stand for all" in told
