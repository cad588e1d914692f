"""What C programs do to memory that they access in several sizes is what they do to bytes (`bytes_c`)."""

from __future__ import annotations

from collections import Counter

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from tests.frontends.bytes_c import SIZE, Access, Memory, Programs, compare
from tests.support import examples

BATCHES = 10
"""Seeds are dealt out to so many tests."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_memory_is_bytes(batch: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(batch, examples(10, 2_000), BATCHES):
        compare(Programs(seed).program(), found)


def test_the_programs_are_worth_comparing() -> None:
    """Each kind of access is drawn, and there are programs with a race and without."""
    drawn = [(draw := Programs(seed), draw.program()) for seed in range(200)]
    used = sum((draw.used for draw, _ in drawn), Counter[str]())
    assert len(used) == len([each for each in dir(Programs) if each.startswith("do_")]) and min(used.values()) > 10
    assert 20 < sum(program.races for _, program in drawn) < 100


def test_accesses_meet_in_a_common_byte() -> None:
    first = Access(0, "shared", 0, 4, True)
    assert first.meets(Access(0, "shared", 3, 5, False)) and not first.meets(Access(0, "shared", 4, 8, True))
    assert not first.meets(Access(1, "shared", 0, 4, True)) and not first.meets(Access(0, "own", 0, 4, True))
    assert not Access(0, "shared", 0, 4, True, "int").meets(Access(0, "shared", 0, 4, True, "int"))
    memory = Memory()
    memory.write(1, "own", SIZE - 2, b"ab")
    assert memory.read(1, "own", SIZE - 3, 3) == bytes([122, 97, 98]) and len(memory.accesses) == 2


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
