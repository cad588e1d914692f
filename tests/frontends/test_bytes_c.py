"""What C programs do to memory that they access in several sizes is what they do to bytes (`bytes_c`)."""

from __future__ import annotations

from collections import Counter

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from tests.frontends.bytes_c import Access, Drawn, Fragments, Memory
from tests.frontends.bytes_run import compare, compare_verdicts
from tests.support import examples

BATCHES = 10
"""Seeds are dealt out to so many tests."""


def drawn(seed: int, count: int) -> Drawn:
    """A program of so many fragments. Those with atomics are a third, so that few programs are refused for one."""
    reached = seed % 5 == 0
    fragments = Fragments(seed, seed % 3 == 0, reached)
    return Drawn([fragments.drawn(f"f{number}") for number in range(count)], reached)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_memory_is_bytes(batch: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(batch, examples(10, 6_000), BATCHES):
        compare(drawn(seed, 2 if seed % 3 == 0 else 8), found)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_verdicts_are_of_bytes(batch: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(batch, examples(10, 1_000), BATCHES):
        compare_verdicts(drawn(seed, 1), found)


def test_the_programs_are_worth_comparing() -> None:
    """Each kind of access is drawn, there are programs with a race and without, and in most sizes meet."""
    draw = Fragments(1, atomics=True, reached=True)
    fragments = [draw.drawn("f") for _ in range(300)]
    assert len(draw.used) == len(draw.kinds) and min(draw.used.values()) > 10
    assert 50 < sum(each.races[-1] for each in fragments) < 150
    assert sum(bool(each.mixes) for each in fragments) > 200


def test_accesses_meet_in_a_common_byte() -> None:
    first = Access(0, "shared", 0, 4, True)
    assert first.meets(Access(0, "shared", 3, 5, False)) and not first.meets(Access(0, "shared", 4, 8, True))
    assert not first.meets(Access(1, "shared", 0, 4, True)) and not first.meets(Access(0, "own", 0, 4, True))
    assert not Access(0, "shared", 0, 4, True, "int").meets(Access(0, "shared", 0, 4, True, "int"))
    memory = Memory({"shared": bytes(8), "own": bytes(range(8))})
    memory.write(1, "own", 6, b"ab", "short")
    assert memory.read(1, "own", 5, 3, "copy") == bytes([5, 97, 98]) and len(memory.accesses) == 2


MOVED = """#include <shmem.h>
#include <assert.h>
#include <string.h>
static char to[2000], of[2000];
static int flag;
int main(void) {
  shmem_init(); int me = shmem_my_pe();
  memset(of, 7, 2000);
  if (me == 0) {
    shmem_putmem(to, of, 2000, 1);
    FENCE
    shmem_int_p(&flag, 1, 1);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    assert(to[999] == 7);
  }
  shmem_finalize(); return 0;
}
"""


@pytest.mark.parametrize(("fence", "verdict"), [("shmem_fence();", "robust"), ("", "not robust")])
def test_what_is_only_moved_has_few_cells(fence: str, verdict: str) -> None:
    """One that is looked at, and on two ranks two for the bytes before and two for those behind."""
    program = parse_c(MOVED.replace("FENCE", fence))
    assert pgasrob.check(program, 2).verdict == verdict
    assert len(program.instantiate(2).program.memory) == 2 * (2 + 1 + 2) + 1
