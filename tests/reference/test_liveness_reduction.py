"""Liveness: what is forgotten in a state, and which attacks are given up."""

from __future__ import annotations

from typing import Any

import pytest

from pgasrob.analysis.futures import futures
from pgasrob.analysis.placement import Kind, Placement, Slot
from pgasrob.analysis.touched import Touched
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import Attack, AttackSpace, State
from pgasrob.reference.liveness_reduction import Liveness, has_ended
from pgasrob.semantics.accesses import Access
from tests.support import instance

X, Y, Z, W = range(4)
Q, U = 0, 1
DEAD_REGISTERS, DEAD_CELLS = (-1, -2), (-3, -4, -5, -6)


def reduced(program: Instance, **changes: Any) -> State | None:
    """The initial state with ``changes``, reduced."""
    initial = AttackSpace(program).initial
    assert isinstance(initial, State)
    liveness = Liveness(program, futures(program), DEAD_REGISTERS, DEAD_CELLS * program.nodes)
    return liveness.reduced(initial._replace(**changes))


def alive(program: Instance, **changes: Any) -> State:
    state = reduced(program, **changes)
    assert state is not None
    return state


def attacked(program: Instance, **changes: Any) -> Attack:
    attack = alive(program, **changes).attack
    assert attack is not None
    return attack


def cells(*numbers: int) -> int:
    return sum(1 << number for number in numbers)


def writes(cell: int) -> Access:
    return Access(cell, reads=False, writes=True)


def reads(cell: int) -> Access:
    return Access(cell, reads=True, writes=False)


TAINTED = Attack(writes(X), tainted=1)
READER = "r <- mem[x];"
"""Something that goes before a source that writes x."""


def test_registers_that_are_set_before_they_are_read_are_dead() -> None:
    program = instance("s <- r + 1; assume(s == 1);", "r <- 1; mem[s + r] <- 1;")
    assert alive(program, registers=((5, 6), (5, 6))).registers == ((5, -2), (-1, 6))


def test_cells_that_no_rank_can_read_are_dead() -> None:
    program = instance("mem[x] <- 1; write(y, 1, z, q);", "read(z, 0, w, q); await(mem[z] == 1);")
    assert alive(program, memory=(1, 2, 3, 4, 5, 6, 7, 8)).memory == (-3, 2, -5, 4, -3, -4, 7, -6)


@pytest.mark.parametrize(
    "reader",
    [
        "r <- swap(0, x, 1); assume(r);",
        "await(mem[x] == 1);",
        "r <- mem[x]; mem[y + r] <- 1;",
        "read(y, 0, x, q); await(mem[y] == 1);",
    ],
)
def test_what_reads_a_cell_keeps_it(reader: str) -> None:
    memory = alive(instance(f"barrier; {reader}"), memory=(9, 9, 9, 9)).memory
    assert memory[X] == 9 and memory[Z] == DEAD_CELLS[Z]


def test_values_that_decide_nothing_are_dead_while_they_are_read() -> None:
    program = instance("r <- mem[x]; s <- s + r; mem[y] <- s; write(y, 0, z, q);")
    state = alive(program, registers=((5, 6),), memory=(9, 9, 9, 9))
    assert (state.registers, state.memory) == ((DEAD_REGISTERS,), DEAD_CELLS)


# Ranks that D blocks for ever

BLOCKED: Placement = ((Slot(Q, Kind.PENDING), 2),)


@pytest.mark.parametrize(
    ("block", "ended"),
    [
        ("wait(q); r <- mem[x];", True),
        ("choose { wait(q); } or { wait(q); mem[x] <- 1; }", True),
        ("choose { wait(q); } or { wait(u); } mem[x] <- 1;", False),
        ("choose { wait(q); } or { wait_local(q); } mem[x] <- 1;", False),  # local completion is not in D
        ("choose { wait(q); } or { mem[x] <- 1; }", False),
        ("choose { wait(q); } or { assume(r == 1); } mem[x] <- 1;", False),
        ("choose { wait(q); } or { wait(r - 1); } mem[x] <- 1;", False),  # a fault
        ("choose { wait(q); } or { barrier; } mem[x] <- 1;", False),
        ("wait(u); r <- mem[x];", False),
    ],
)
def test_a_rank_before_nothing_but_blocked_waits_has_ended(block: str, ended: bool) -> None:
    program = instance(block, READER)
    state = alive(program, placement=(BLOCKED, ()), attack=Attack(writes(4 + X), 2))
    assert has_ended(program, state, 0) == ended
    assert state.control == (len(program.automata[0].out) if ended else 0, 0)


def test_nothing_is_left_of_a_rank_that_has_ended() -> None:
    program = instance("wait(q); write(y, 1, y, q); barrier; r <- mem[r + s];", "r <- mem[x]; assume(r);")
    state = alive(
        program, placement=(BLOCKED, ()), attack=Attack(writes(4 + X), 3), registers=((5, 6), (5, 6)), memory=(7,) * 8
    )
    assert state.registers[0] == DEAD_REGISTERS
    assert state.placement == ((), ())
    assert state.memory == (*DEAD_CELLS, 7, *DEAD_CELLS[1:])
    assert state.attack is not None and state.attack.tainted == 2


def test_without_an_attack_no_rank_is_blocked() -> None:
    assert alive(instance("wait(q); r <- mem[x];"), placement=(BLOCKED,)).control == (0,)


def test_a_rank_that_has_ended_stays_so() -> None:
    program = instance("wait(q); r <- mem[x];", READER)
    before = alive(program, placement=(BLOCKED, ()), attack=Attack(writes(4 + X), 2))
    assert alive(program, **before._asdict()) == before


# The attack


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        ("r <- mem[x];", 3),
        ("mem[x] <- 1;", 3),
        ("barrier;", 3),  # carries taint to all ranks
        ("r <- 1; wait(q); fence(u);", 2),
        ("", 2),
    ],
)
def test_taint_is_kept_of_ranks_that_can_access_or_meet_others(block: str, kept: int) -> None:
    assert attacked(instance(block, READER), attack=Attack(writes(4 + X), 3)).tainted == kept


def test_accesses_are_kept_that_later_ones_can_conflict_with() -> None:
    """Rank 0 may still read x and y and write z."""
    everything = Touched(cells(X, Y, Z, W), cells(X, Y, Z, W))
    program = instance("r <- mem[x]; write(y, 0, z, q);")
    attack = attacked(program, attack=Attack(writes(X), 1, everything, everything))
    assert attack.done == attack.delayed == Touched(cells(Z), cells(X, Y, Z))


@pytest.mark.parametrize(
    ("source", "block", "dropped"),
    [
        (writes(X), "r <- mem[x];", False),
        (writes(X), "mem[x] <- 1;", False),
        (writes(X), "r <- mem[y];", True),
        (reads(X), "r <- mem[x];", True),
        (reads(X), "mem[x] <- 1;", False),
        (reads(X), "barrier; write(y, 0, x, q);", False),
        (reads(X), "r <- fetch_add(0, x, 1);", False),
    ],
)
def test_an_attack_is_given_up_when_nothing_can_go_before_the_source(source: Access, block: str, dropped: bool) -> None:
    assert (reduced(instance(block), attack=Attack(source, 1)) is None) == dropped


@pytest.mark.parametrize(
    ("attack", "dropped"),
    [
        (Attack(writes(X), 0), True),
        (Attack(writes(X), 1), False),
        (Attack(writes(X), 2), True),  # rank 1 has ended
        (Attack(writes(X), 0, Touched(0, cells(X))), False),
        (Attack(writes(X), 0, Touched(cells(X), 0)), True),  # two reads
        (Attack(writes(X), 0, Touched(), Touched(0, cells(X))), False),
        (Attack(writes(X), 0, Touched(0, cells(Y)), Touched(0, cells(Z))), True),
    ],
)
def test_an_attack_is_given_up_when_no_cycle_can_come_back(attack: Attack, dropped: bool) -> None:
    assert (reduced(instance(READER, ""), attack=attack) is None) == dropped


def test_a_blocked_rank_is_no_hope_for_an_attack() -> None:
    program = instance("wait(q); r <- mem[x];")
    assert reduced(program, placement=(BLOCKED,), attack=TAINTED) is None
    assert reduced(program, placement=((),), attack=TAINTED) is not None


# Placement

PENDING, LOCAL, ARRIVING = (Slot(Q, Kind.PENDING), 2), (Slot(Q, Kind.LOCAL), 2), (Slot(Q, Kind.STAGE, 1), 2)


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        ("choose { wait(u); } or { skip; }", ()),
        ("r <- 1; wait(q);", (PENDING,)),
        ("r <- 1; wait_local(q);", (LOCAL,)),
        ("write(y, 0, z, q);", (ARRIVING,)),
        ("read(y, 0, z, q);", (ARRIVING,)),
        ("fence(q);", ()),
        ("write(y, 0, z, r); wait(q);", (PENDING, ARRIVING)),
        ("wait(r);", (PENDING,)),
    ],
)
def test_what_is_kept_of_a_queue_is_what_later_commands_ask(block: str, kept: Placement) -> None:
    program = instance(f"r <- swap(0, x, 0); {block}")
    assert alive(program, attack=TAINTED, placement=((PENDING, LOCAL, ARRIVING),)).placement == (kept,)


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        ("write(y, 0, z, u); fence(u);", (Kind.FENCED, Kind.FENCED, Kind.BOUND)),
        ("write(y, 0, z, u);", (Kind.BOUND,)),  # without what it was made of
        ("fence(u);", (Kind.FENCED, Kind.FENCED)),
        ("write(y, 0, z, q);", ()),
    ],
)
def test_what_is_kept_of_a_fence(block: str, kept: tuple[Kind, ...]) -> None:
    slots = Slot(U, Kind.FENCED, 0), Slot(U, Kind.FENCED, 1), Slot(U, Kind.BOUND, 0)
    before = tuple((slot, 2) for slot in slots)
    placement = alive(instance(f"r <- mem[x]; {block}"), attack=TAINTED, placement=(before,)).placement
    assert placement == (tuple(entry for entry in before if entry[0].kind in kept),)
    assert len(placement[0]) == len(kept)
