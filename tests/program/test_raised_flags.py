"""Which cells are flags, and with which values."""

from __future__ import annotations

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.raised_flags import Flags

HEAD = "program p; nodes 2; memory x, y, one = 1, src; register r; queue q unordered;"


def flags_of(rank: int, first: str, second: str = "skip;") -> dict[str, tuple[int, tuple[int, ...]]]:
    """The flags of ``rank`` by their names."""
    program = parse(f"{HEAD} process 0 {{ {first} }} process 1 {{ {second} }}")
    instance = program.instantiate(2)
    found = Flags(program, instance.automata).of(rank)
    return {instance.cell_name(cell): (flag.arrives, flag.before) for cell, flag in found.items()}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("put(one, 1, x, q);", "skip;", {"x@1": (1, (0,))}),
        ("update(set, 3, 1, x, q);", "skip;", {"x@1": (3, (0,))}),
        ("mem[src] <- 1; put(src, 1, x, q);", "skip;", {"x@1": (1, (0,)), "src@0": (1, (0,))}),
        ("mem[src] <- 1; put(src, 1, x, q); mem[src] <- 2; put(src, 1, x, q);", "skip;", {}),  # two values
        ("put(one, 1, x, q); update(set, 2, 1, x, q);", "skip;", {}),
        ("update(set, 1, 1, x, q); update(set, 0, 1, x, q);", "skip;", {}),  # it is taken down again
        ("update(add, 1, 1, x, q);", "skip;", {}),
        ("write(one, 1, x, q);", "skip;", {}),  # of what is read later nothing is known
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
