"""Which cells are flags, and with which values."""

from __future__ import annotations

import pytest

from pgasrob.program import later_writes
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.raised_flags import Flags

HEAD = "program p; nodes 2; memory x, y, one = 1, src, two = 2; register r; queue q unordered, f;"
SIZE = 5
"""Cells of a rank, so the number of its x."""


def flags(first: str, second: str = "skip;") -> tuple[Flags, Instance]:
    program = parse(f"{HEAD} process 0 {{ {first} }} process 1 {{ {second} }}")
    instance = program.instantiate(2)
    return Flags(program, instance.automata), instance


def flags_of(rank: int, first: str, second: str = "skip;") -> dict[str, tuple[int, tuple[int, ...]]]:
    """The flags of ``rank`` to which one value arrives, by their names: that one, and those before it."""
    found, instance = flags(first, second)
    return {
        instance.cell_name(cell): (flag.arriving[0], flag.before)
        for cell, flag in found.of(rank).items()
        if len(flag.arriving) == 1
    }


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("put(one, 1, x, q);", "skip;", {"x@1": (1, (0,))}),
        ("update(set, 3, 1, x, q);", "skip;", {"x@1": (3, (0,))}),
        ("mem[src] <- 1; put(src, 1, x, q);", "skip;", {"x@1": (1, (0,)), "src@0": (1, (0,))}),
        ("mem[src] <- 1; put(src, 1, x, q); mem[src] <- 2; put(src, 1, x, q);", "skip;", {}),  # two values
        ("put(one, 1, x, q); update(set, 2, 1, x, q);", "skip;", {}),
        ("update(set, 1, 1, x, q); update(set, 0, 1, x, q);", "skip;", {}),  # it is taken down again
        ("update(add, 1, 1, x, q);", "skip;", {"x@1": (1, (0,))}),
        ("update(add, 1, 1, x, q);", "mem[x] <- 0;", {}),  # it may be before or after
        ("update(add, 1, 1, x, q); update(set, 1, 1, x, q);", "skip;", {}),
        ("write(one, 1, x, q);", "skip;", {"x@1": (1, (0,))}),  # the source keeps its value
        (
            "update(set, 1, 1, x, q);",
            "mem[x] <- 0; mem[x] <- 7;",
            {"x@1": (1, (0, 7))},
        ),  # its owner's stores come before
        ("update(set, 1, 1, x, q);", "r <- fetch_add(1, x, 1);", {}),
        ("update(set, 1, 1, x, q);", "r <- swap(1, x, 4);", {"x@1": (1, (0, 4))}),
        ("update(set, 1, 1, x, q);", "put(src, me, x, q);", {}),  # a put to itself may arrive at any time
        ("r <- swap(1, x, 1);", "skip;", {"x@1": (1, (0,))}),
        ("update(set, 1, r, x, q);", "skip;", {"x@0": (1, (0,)), "x@1": (1, (0,))}),  # to any rank
        ("update(set, 1, 1, x, q); update(set, 2, r, x, q);", "skip;", {"x@0": (2, (0,))}),
        ("update(set, 1, 1, x, q); update(set, 2, 1, r, q);", "skip;", {}),  # anywhere
        ("update(set, r, 1, x, q);", "skip;", {}),
        ("read(src, 1, y, q); put(src, 1, x, q);", "skip;", {}),  # the source may be overwritten
        ("put(src, 1, x, q);", "put(one, 0, src, q);", {}),  # by a put of another rank
    ],
)
def test_what_others_write_makes_a_flag(
    first: str, second: str, expected: dict[str, tuple[int, tuple[int, ...]]]
) -> None:
    found = flags_of(1, first, second)
    assert {name: flag for name, flag in found.items() if name in ("x@0", "x@1") or name in expected} == expected


def test_what_a_rank_stores_is_early_to_itself_and_arrives_at_others() -> None:
    assert flags_of(0, "mem[x] <- 5;") == {}
    assert flags_of(1, "mem[x] <- 5;") == {"x@0": (5, (0,))}


def test_a_cell_with_many_values_is_no_flag() -> None:
    stores = "".join(f"mem[x] <- {value};" for value in range(2, 5))
    assert flags_of(1, "update(set, 1, 1, x, q);", stores) == {"x@1": (1, (0, 2, 3, 4))}
    assert flags_of(1, "update(set, 1, 1, x, q);", f"{stores} mem[x] <- 5;") == {}


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("put(one, 1, x, q); wait(q); put(two, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("put(one, 1, x, q); fence(q); put(two, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("put(one, 1, x, q); fence(q, 1); put(two, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("put(one, 1, x, f); put(two, 1, x, f);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),  # a FIFO queue
        ("put(one, 1, x, q); put(two, 1, x, q);", None),  # either may be the last
        ("put(one, 1, x, q); wait_local(q); put(two, 1, x, q);", None),
        ("put(one, 1, x, q); fence(q, 0); put(two, 1, x, q);", None),
        ("put(one, 1, x, q); fence(f); put(two, 1, x, f);", None),
        ("put(one, 1, x, q); wait(f); put(two, 1, x, q);", None),
        ("put(one, 1, x, q); wait(q); put(two, 1, x, q); wait(q); put(one, 1, x, q);", None),  # it goes back
        ("put(one, 1, x, q); choose { wait(q); } or { skip; } put(two, 1, x, q);", None),
        ("loop { put(one, 1, x, q); wait(q); put(two, 1, x, q); wait(q); }", None),
        ("bundle; put(one, 1, x, q); signal(set, 2, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("bundle; put(one, 1, x, q); bundle; signal(set, 2, 1, x, q);", None),
        ("put(one, 1, x, q); notify(set, 2, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("put(one, 1, x, f); notify(set, 2, 1, x, q);", None),
        ("update(add, 1, 1, x, q); update(add, 1, 1, x, q);", {0: (0, 1, 2), 1: (1, 2), 2: (2,)}),
        ("update(add, 2, 1, x, q); update(add, 1, 1, x, q);", {0: (0, 1, 2, 3), 1: (1, 2, 3), 2: (2, 3), 3: (3,)}),
        ("update(add, 1, 1, x, q); update(add, -1, 1, x, q);", None),
        ("update(add, r, 1, x, q);", None),
        ("update(xor, 1, 1, x, q);", None),
        ("while (r < 2) { update(add, 1, 1, x, q); r <- r + 1; }", None),
    ],
)
def test_what_may_arrive_later(first: str, later: dict[int, tuple[int, ...]] | None) -> None:
    found, _ = flags(first)
    flag = found.of(1).get(SIZE)
    assert (None if flag is None else dict(flag.later)) == later


def test_a_value_behind_a_barrier_does_not_arrive_before_it() -> None:
    found, _ = flags("update(set, 1, 1, x, q); barrier; update(set, 2, 1, x, q);", "barrier;")
    assert [found.of(1, phase)[SIZE].values for phase in (0,)] == [(0, 1)]
    assert SIZE not in found.of(1, 1)  # the 1 may still arrive
    found, _ = flags("update(set, 1, 1, x, q); wait(q); barrier; update(set, 2, 1, x, q);", "barrier;")
    assert found.of(1, 1)[SIZE].later == {0: (0, 1, 2), 1: (1, 2), 2: (2,)}


@pytest.mark.parametrize(
    ("between", "settled"), [("wait(q);", True), ("fence(q);", True), ("", False), ("wait_local(q);", False)]
)
def test_data_has_settled_with_a_flag_that_is_put_after_it(between: str, settled: bool) -> None:
    found, _ = flags(f"put(one, 1, y, q); {between} put(one, 1, x, q);")
    assert found.settled(SIZE + 1, 1, None, [(SIZE, 1)]) == settled
    assert not found.settled(SIZE + 1, 1, None, [])
    assert not found.settled(SIZE + 1, 1, None, [(SIZE, 0)])


def test_a_cell_that_only_its_rank_loads_and_stores_is_its_own() -> None:
    found, _ = flags("put(one, 1, x, q);", "r <- mem[src]; mem[src] <- 1; r <- mem[r >= 0 && r < 2 ? y + r : -1];")
    assert [found.is_own(SIZE + address, 1) for address in range(SIZE)] == [False, True, True, True, True]
    found, _ = flags("r <- fetch(1, src);", "await(mem[y] == 1); put(one, me, x, q);")
    assert [found.is_own(SIZE + address, 1) for address in range(SIZE)] == [False, False, False, False, True]
    found, _ = flags("r <- fetch(1, r);")
    assert not any(found.is_own(SIZE + address, 1) for address in range(SIZE))


@pytest.mark.parametrize("few", [1 << 14, 0])
def test_many_control_states_are_looked_at_one_by_one(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which comes after which is the same, whether it is found out for all at once or for each that is asked for."""
    monkeypatch.setattr(later_writes, "FEW_STATES", few)
    body = "loop { mem[x] <- 1; if (r == 0) { mem[y] <- 1; } else { mem[y] <- 2; } } mem[one] <- 2;"
    _, instance = flags(body)
    order, out = later_writes.LaterWrites(instance.automata, frozenset()), instance.automata[0].out
    for state in range(len(out)):
        behind = reached([state], lambda at: [edge.target for edge in out[at]])
        assert {place for place in range(len(out)) if order._comes_to(0, state, place)} == behind
    assert len(out) > 4
