"""The definition of a race on programs that show one rule each."""

from __future__ import annotations

import pytest

from pgasrob.api import race as races
from pgasrob.program.parser import parse
from pgasrob.races.race_definition import DefinitionSearch
from tests.support import instance


def race_kinds(*blocks: str, strict: bool = False) -> list[str]:
    """What races there are, as texts like ``"0 popb y@1, 1 load y@1"``, and one per pair of places."""
    program = instance(*blocks)
    search = DefinitionSearch(program, strict)
    for _ in search.run():
        pass
    assert search.gave_up is None
    return [
        ", ".join(
            f"{each.rank} {each.transition.command.kind}{'' if each.at_issue else ' step'} "
            f"{program.cell_name(each.access.cell)}"
            for each in sorted(race.accesses, key=lambda each: (each.rank, each.transition.occurrence))
        )
        for race in search.races.values()
    ]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        # a put against the reader, with nothing between
        (["write(x, 1, y, q);", "r <- mem[y];"], ["0 write step y@1, 1 load y@1"]),
        # the source buffer
        (["write(x, 1, y, q); mem[x] <- 2;", ""], ["0 write step x@0, 0 store x@0"]),
        (["write(x, 1, y, q); wait_local(q); mem[x] <- 2;", ""], []),
        (["put(x, 1, y, q); mem[x] <- 2;", ""], []),
        # two that only read
        (["r <- mem[x @ 1];", "r <- mem[x];"], []),
        # completion rules: FIFO, fence, none
        (["write(x, 1, y, q); write(z, 1, y, q);", ""], []),
        (["write(x, 1, y, u); write(z, 1, y, u);", ""], ["0 write step y@1, 0 write step y@1"]),
        (["write(x, 1, y, u); fence(u); write(z, 1, y, u);", ""], []),
        # a step that is pending behind another is not next; when it is, the other has happened
        (["write(x, 1, z, q); write(x, 1, y, q);", "await(mem[z] == 1); r <- mem[y];"],
         ["0 write step y@1, 1 load y@1"]),
        # a barrier orders
        (["mem[y @ 1] <- 1; barrier;", "barrier; r <- mem[y];"], []),
        # alternatives of one rank are none
        (["choose { mem[x] <- 1; } or { r <- mem[x]; }"], []),
        # atomics among themselves, and against plain accesses
        (["r <- fetch_add(1, y, 1);", "r <- fetch_add(1, y, 1);"], []),
        (["r <- fetch_add(1, y, 1);", "mem[y] <- 1;"], ["0 fetch_add y@1, 1 store y@1"]),
        (["update(add, 1, 1, y, u);", "r <- fetch(1, y);"], []),
        # the same command of two ranks
        (["mem[y @ 0] <- me;"], []),
    ],
)  # fmt: skip
def test_rules(blocks: list[str], expected: list[str]) -> None:
    assert race_kinds(*blocks) == expected


def test_an_await_counts_though_it_does_not_hold_and_only_strictly() -> None:
    blocks = ["write(x, 1, y, q);", "await(mem[y] == 1);"]
    assert race_kinds(*blocks) == []
    assert race_kinds(*blocks, strict=True) == ["0 write step y@1, 1 await y@1"]


def test_a_polling_load_is_an_await() -> None:
    blocks = ["write(x, 1, y, q);", "r <- mem[y]; while (r == 0) { r <- mem[y]; }"]
    assert race_kinds(*blocks) == []
    assert race_kinds(*blocks, strict=True)


def test_two_operations_of_one_command() -> None:
    assert race_kinds("while (r < 2) { r <- r + 1; write(x, me, y, u); }") == ["0 write step y@0, 0 write step y@0"]


def test_places_of_one_line_are_one_pair() -> None:
    """However their columns differ."""
    text = (
        "memory x, y; queue q unordered; register r;\n"
        "process 0 { write(y, 1, x, q); write(y, 1, x, q); }\n"
        "process 1 { r <- mem[x]; }"
    )
    for engine in ("search", "definition"):
        found = races(parse(text, "p.pgas"), 2, all_=True, engine=engine).races
        assert sorted(race.lines for race in found) == [(2, 2), (2, 3)]
