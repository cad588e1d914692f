"""GASPI, `rma`: what calls lower to."""

from __future__ import annotations

from pathlib import Path

import pytest

import pgasrob
from pgasrob.frontends.apis.call_steps import NotAllowed
from pgasrob.frontends.apis.gaspi import API
from pgasrob.frontends.apis.gaspi.header import BLOCK
from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import Register
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    RecordedCall,
    Refused,
    World,
    lines,
    lowered,
    outcomes,
    variable,
)

SEGMENT = {"gaspi.segments": ((0, 64), (1, 64))}

OUT = variable("out")

WRITE = (0, 0, 1, 1, 8, 8)
"""Eight bytes from the beginning of segment 0 to offset 8 of segment 1 of rank 1."""


def lists(*rows: tuple[int, ...]) -> tuple[World, tuple[Argument, ...]]:
    """The arrays of a list of transfers with these rows, and the arguments of the call up to the sizes."""
    names, sizes = ("s", "o", "t", "p", "n"), (1, 8, 1, 8, 8)
    world = World()
    for column, (name, size) in enumerate(zip(names, sizes, strict=True)):
        for place, row in enumerate(rows):
            world.contents[variable(name, place * size)] = Known(row[column])
    s, o, t, p, n = map(variable, names)
    return world, (len(rows), s, o, 1, t, p, n)


CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    (
        "gaspi_write",
        (*WRITE, 3, BLOCK),
        [
            "write(gaspi_0+0, 1, gaspi_1+8, queue_3)",
            "write(gaspi_0+4, 1, gaspi_1+12, queue_3)",
            "return 0",
        ],
    ),
    (
        "gaspi_read",
        (0, 4, 1, 1, 8, 4, 3, BLOCK),
        ["read(gaspi_0+4, 1, gaspi_1+8, queue_3)", "return 0"],
    ),
    ("gaspi_notify", (0, 1, 5, 7, 3, BLOCK), ["notify(set, 7, 1, notification 5+0, queue_3)", "return 0"]),
    (
        "gaspi_write_notify",
        (*WRITE, 5, 7, 3, BLOCK),
        [
            "bundle",
            "write(gaspi_0+0, 1, gaspi_1+8, queue_3)",
            "write(gaspi_0+4, 1, gaspi_1+12, queue_3)",
            "signal(set, 7, 1, notification 5 of segment 1+0, queue_3)",
            "return 0",
        ],
    ),
    (
        "gaspi_read_notify",
        (0, 4, 1, 1, 8, 4, 5, 3, BLOCK),
        [
            "bundle",
            "read(gaspi_0+4, 1, gaspi_1+8, queue_3)",
            "signal(set, 1, 0, notification 5+0, queue_3)",
            "return 0",
        ],
    ),
    (
        "gaspi_notify_reset",
        (0, 5, OUT),
        ["notification <- swap(0, notification 5+0, 0)", "*('out',)+0 = notification", "return 0"],
    ),
    ("gaspi_notify_reset", (0, 5, None), ["notification <- swap(0, notification 5+0, 0)", "return 0"]),
    (
        "gaspi_atomic_fetch_add",
        (0, 8, 1, 3, OUT, BLOCK),
        ["old <- fetch_add(1, gaspi_0+8, 3) as unsigned long", "*('out',)+0 = old", "return 0"],
    ),
    (
        "gaspi_atomic_compare_swap",
        (0, 8, 1, 3, 4, OUT, BLOCK),
        ["old <- compare_swap(1, gaspi_0+8, 3, 4) as unsigned long", "*('out',)+0 = old", "return 0"],
    ),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments, state=SEGMENT) == [expected]


def test_lists_are_written_and_read_piece_by_piece() -> None:
    world, arguments = lists((0, 0, 1, 8, 4), (0, 16, 0, 32, 4))
    pieces = ["(gaspi_0+0, 1, gaspi_1+8, queue_0)", "(gaspi_0+16, 1, gaspi_0+32, queue_0)"]
    for kind in ("write", "read"):
        found = lowered(API, f"gaspi_{kind}_list", *arguments, 0, BLOCK, state=SEGMENT, world=world)
        assert found == [[*(f"{kind}{piece}" for piece in pieces), "return 0"]]
    found = lowered(API, "gaspi_write_list_notify", *arguments, 1, 5, 7, 0, BLOCK, state=SEGMENT, world=world)
    writes = [f"write{piece}" for piece in pieces]
    assert found == [["bundle", *writes, "signal(set, 7, 1, notification 5 of segment 1+0, queue_0)", "return 0"]]
    found = lowered(API, "gaspi_read_list_notify", *arguments, 1, 5, 0, BLOCK, state=SEGMENT, world=world)
    reads = [f"read{piece}" for piece in pieces]
    assert found == [["bundle", *reads, "signal(set, 1, 0, notification 5 of segment 1+0, queue_0)", "return 0"]]


def test_the_document_of_2013() -> None:
    """gaspi_wait completes both sides, and a write with notification is a write and a notification."""
    rank = Rank(API, dialects=("gaspi-1.01",))
    rank.state |= SEGMENT
    assert rank.call("gaspi_write_notify", 0, 0, 1, 1, 8, 4, 5, 7, 3, BLOCK) == [
        "write(gaspi_0+0, 1, gaspi_1+8, queue_3)",
        "notify(set, 7, 1, notification 5 of segment 1+0, queue_3)",
        "return 0",
    ]
    assert rank.call("gaspi_wait", 3, BLOCK) == ["wait(queue_3)", "return 0"]


def test_waitsome_has_an_outcome_for_each_slot() -> None:
    assert lowered(API, "gaspi_notify_waitsome", 0, 4, 2, OUT, BLOCK, state=SEGMENT) == [
        ["await(mem[notification 4+0] != 0)", "*('out',)+0 = 4", "return 0"],
        ["await(mem[notification 5+0] != 0)", "*('out',)+0 = 5", "return 0"],
    ]


def test_a_long_range_is_that_of_the_slots_in_use() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    for number in (3, 500):
        rank.call("gaspi_notify", 0, 0, number, 1, 0, BLOCK)
    call = RecordedCall("gaspi_notify_waitsome", (0, 0, 65536, OUT, BLOCK), state=SEGMENT, world=rank.world)
    assert [outcome.stores[0][1] for outcome in outcomes(API, call)] == [Known(3), Known(500)]
    assert len(lowered(API, "gaspi_notify_waitsome", 0, 0, 65536, OUT, BLOCK, state=SEGMENT)) == 1


def test_a_slot_whose_number_is_not_known_is_one_of_those_in_use() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    for number in (3, 500):
        rank.call("gaspi_notify", 0, 0, number, 1, 0, BLOCK)
    call = RecordedCall("gaspi_notify_reset", (0, Register("id", 0), OUT), state=SEGMENT, world=rank.world)
    assert [lines(outcome) for outcome in outcomes(API, call)] == [
        ["assume(id == 3)", "notification <- swap(0, notification 3+0, 0)", "*('out',)+0 = notification", "return 0"],
        [
            "assume(id == 500)",
            "notification <- swap(0, notification 500+0, 0)",
            "*('out',)+0 = notification",
            "return 0",
        ],
        ["assume(id != 3)", "assume(id != 500)", "*('out',)+0 = 0", "return 0"],
    ]


WAITSOME = """
#include <GASPI.h>
#include <assert.h>
static void check(int code) { if (code != GASPI_SUCCESS) { } }
int main(void) {
  gaspi_rank_t me;
  gaspi_pointer_t p;
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_proc_rank(&me);
  gaspi_segment_create(0, 512, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  gaspi_segment_ptr(0, &p);
  int *data = p;
  if (me == 0) {
    data[0] = 7;
    for (int id = 0; id < 16; id++) {
      check(gaspi_write_notify(0, 0, 1, 0, 64 + 4 * id, 4, id, id + 1, 0, GASPI_BLOCK));
      WAIT
    }
  } else {
    for (int k = 0; k < 16; k++) {
      gaspi_notification_id_t id;
      gaspi_notification_t old;
      check(gaspi_notify_waitsome(0, 0, 16, &id, GASPI_BLOCK));
      check(gaspi_notify_reset(0, id, &old));
      if (old) { assert(old == id + 1); assert(data[16 + id] == 7); }
      check(gaspi_notify(0, 0, 20, 1, 0, GASPI_BLOCK));
      check(gaspi_wait(0, GASPI_BLOCK));
    }
  }
  gaspi_proc_term(GASPI_BLOCK);
  return 0;
}
"""

ACKNOWLEDGED = """gaspi_notification_id_t ack; gaspi_notification_t old;
  gaspi_notify_waitsome(0, 20, 1, &ack, GASPI_BLOCK); gaspi_notify_reset(0, ack, &old);"""


def test_a_waitsome_over_16_slots(tmp_path: Path) -> None:
    path = tmp_path / "waitsome.c"
    path.write_text(WAITSOME.replace("WAIT\n", ACKNOWLEDGED + "\n"))
    result = pgasrob.check(pgasrob.load(path), nodes=2)
    assert (result.verdict, result.assertions) == ("robust", "hold")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gaspi_write", (*WRITE, 3, 0)),
        ("gaspi_notify_waitsome", (0, 4, 1, OUT, 100)),
        ("gaspi_atomic_fetch_add", (0, 8, 1, 3, OUT, Register("t", 0))),
    ],
)
def test_a_timeout_may_pass(name: str, arguments: tuple[Argument, ...]) -> None:
    """And nothing has happened then."""
    done, passed = lowered(API, name, *arguments, state=SEGMENT)
    assert done[-1] == "return 0" and passed == ["return 1"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gaspi_write", (4, 0, 1, 0, 0, 4, 0, BLOCK), "segment 4, which has not been created"),
        ("gaspi_notify", (0, 1, 5, 0, 0, BLOCK), "the value 0"),
        ("gaspi_atomic_fetch_add", (0, 4, 1, 3, OUT, BLOCK), "not a multiple of 8"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises((NotAllowed, Refused), match=message):
        lowered(API, name, *arguments, state=SEGMENT)
