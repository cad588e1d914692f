"""Values that decide nothing are forgotten; those that decide something, by whatever way, are not."""

from __future__ import annotations

import pytest

from pgasrob.analysis.relevance import relevance
from pgasrob.reference.attack_search import AttackSearch
from tests.support import instance

DECLARATIONS = "memory x, y, z; register r, s, t; queue q;"
NAMES = "rst"


def relevant(body: str, nodes: int = 1) -> tuple[str, str]:
    """The registers of rank 0 and the addresses on its node that decide something, by name."""
    program = instance(body, nodes=nodes, declarations=DECLARATIONS)
    found = relevance(program)
    cells = "".join(name for address, name in enumerate("xyz") if found.cells >> address & 1)
    return "".join(name for index, name in enumerate(NAMES) if index in found.registers[0]), cells


@pytest.mark.parametrize(
    ("body", "registers", "cells"),
    [
        ("r <- mem[x]; mem[y] <- r + 1;", "", ""),
        ("r <- mem[x]; assume(r);", "r", "x"),
        ("r <- mem[x]; assert(r == 1);", "r", "x"),
        ("r <- mem[x]; s <- mem[r];", "r", "x"),
        ("r <- mem[x]; write(y, r, z, q);", "r", "x"),
        ("r <- mem[x]; write(y, 0, z, r);", "r", "x"),
        ("r <- mem[x]; s <- 1 / r;", "r", "x"),
        ("r <- mem[x]; s <- r / 2;", "", ""),
        ("r <- mem[x]; s <- 1 << r;", "r", "x"),
        ("await(mem[x] == 1);", "", "x"),
        ("await(mem[x] == r);", "r", "x"),
        ("s <- r; t <- s; mem[x] <- t; await(mem[x] == 1);", "rst", "x"),
        ("write(x, 0, y, q); r <- mem[y]; assume(r);", "r", "xy"),
        ("read(x, 0, y, q); r <- mem[x]; assume(r);", "r", "xy"),
        ("r <- fetch_add(0, x, s);", "", ""),
        ("r <- fetch_add(0, x, s); assume(r);", "rs", "x"),
        ("r <- swap(0, x, s); t <- mem[x]; assume(t);", "st", "x"),
        ("r <- compare_swap(0, x, s, t); assume(r);", "rst", "x"),
        ("r <- compare_swap(0, x, s, t);", "st", "x"),
    ],
)
def test_what_decides_something(body: str, registers: str, cells: str) -> None:
    assert relevant(body) == (registers, cells)


def test_it_goes_through_the_memory_of_other_ranks() -> None:
    assert relevant("mem[x] <- r; write(x, 1, y, q); s <- mem[y]; assume(s);", nodes=2) == ("rs", "xy")


def states(body: str) -> int:
    search = AttackSearch(instance(body, nodes=2, declarations=DECLARATIONS), ["liveness"])
    for _ in search.run():
        pass
    assert search.violation is None
    return search.states


def test_data_of_any_value_is_one_state_and_data_that_decides_is_several() -> None:
    add = "r <- fetch_add(0, x, me + 1); s <- mem[x];"
    assert states(add) < states(add + " assume(s != 9);")
