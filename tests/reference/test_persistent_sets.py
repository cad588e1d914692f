"""Persistent sets: which ranks may be expanded alone, by the commands they stand before and those that may come."""

from __future__ import annotations

import pytest

from pgasrob.analysis.futures import futures
from pgasrob.analysis.placement import Kind, Slot
from pgasrob.analysis.touched import Touched
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import Attack, AttackSpace, State
from pgasrob.reference.persistent_sets import persistent_sets
from pgasrob.semantics.accesses import Access
from tests.support import instance

X, Y, Z, W = range(4)


def sets(program: Instance, **changes: object) -> list[tuple[int, ...]]:
    """The persistent sets of the initial state with ``changes``."""
    initial = AttackSpace(program).initial
    assert isinstance(initial, State)
    return list(persistent_sets(program, futures(program), initial._replace(**changes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        # What each is about to do touches nothing that the other can do.
        (["write(x, 1, y, q);", "write(x, 0, y, q);"], [(0,), (1,)]),
        (["r <- mem[x];", "read(z, 0, x, q);"], [(0,), (1,)]),
        # What a rank is about to do counts on one side, what it may do later on the other.
        (["r <- mem[x];", "r <- mem[z]; write(x, 0, x, q);"], [(1,)]),
        (["r <- 1; r <- mem[x];", "write(x, 0, x, q);"], [(0,)]),
        (["r <- mem[x];", "write(x, 0, x, q);"], []),
        (["r <- swap(1, x, 1);", "r <- mem[x];"], []),
        (["mem[x] <- 1;", "r <- mem[y]; read(z, 0, x, q);"], [(1,)]),
        (["mem[x] <- 1;", "r <- mem[y]; assume(r == 0); read(z, 0, x, q);"], [(1,)]),
        # Rank 0 demands rank 1, and rank 1 rank 2.
        (["r <- mem[x];", "r <- mem[y]; write(z, 0, x, q);", "r <- 1; write(x, 1, y, q);"], [(2,), (1, 2)]),
        # Small ones first, then those that are closed from a small rank; each once.
        (["mem[x] <- 1; read(z, 1, x, q);", "mem[x] <- 1; read(z, 0, x, q);", "r <- 1;"], [(2,), (0, 1)]),
        (["r <- 1;", "r <- 1;", "mem[x] <- 1;"], [(0,), (1,), (2,)]),
        # A rank that has ended is not among those that all ranks are.
        (["r <- mem[x];", "", "r <- 1; write(x, 0, x, q);"], [(2,)]),
        (["r <- 1;", ""], []),
    ],
)
def test_closures(blocks: list[str], expected: list[tuple[int, ...]]) -> None:
    assert sets(instance(*blocks)) == expected


def test_what_comes_after_a_barrier_does_not_count() -> None:
    assert sets(instance("r <- mem[x];", "r <- 1; barrier; write(x, 0, x, q);")) == [(0,), (1,)]


def test_no_set_starts_from_a_rank_at_a_barrier_but_it_may_be_demanded() -> None:
    blocks = ["r <- mem[x]; barrier;", "choose { barrier; } or { write(x, 0, x, q); }", "r <- 1;"]
    assert sets(instance(*blocks)) == [(2,), (0, 1)]
    assert sets(instance("barrier;", "barrier; r <- mem[x];", "r <- 1;")) == [(2,)]


def test_operands_are_evaluated_for_the_next_commands_alone() -> None:
    near, far = "write(x, r, y, q);", "loop { s <- 1; write(x, r, y, q); r <- 2; }"
    assert sets(instance(near, "r <- mem[y];", "r <- mem[y];")) == [(0,), (1,), (2,)]
    assert sets(instance(far, "r <- mem[y];", "r <- mem[y];")) == [(0,), (0, 1), (0, 2)]


def test_a_faulting_command_does_nothing_and_nothing_comes_after_it() -> None:
    assert sets(instance("r <- mem[x];", "s <- 1 / r; write(x, 0, x, q);")) == [(0,), (1,)]


def begun(delayed: Touched) -> Attack:
    return Attack(Access(W, reads=False, writes=True), 1, delayed=delayed)


def test_nothing_comes_after_a_wait_that_is_blocked() -> None:
    program = instance("r <- mem[x];", "wait(q); write(x, 0, x, q);")
    assert sets(program) == [(1,)]
    blocked = ((), ((Slot(0, Kind.PENDING), 2),))
    assert sets(program, attack=begun(Touched()), placement=blocked) == [(0,), (1,)]


def test_an_access_pruned_by_d_is_what_a_rank_is_about_to_do_but_nothing_comes_after_it() -> None:
    program = instance("r <- mem[x];", "r <- mem[y]; write(x, 0, x, q);")
    attack = begun(Touched(0, 1 << 4 + Y))
    assert sets(program, attack=begun(Touched())) == [(1,)]
    assert sets(program, attack=attack) == [(0,), (1,)]
    writer = instance("s <- 1; write(x, 1, y, q);", "r <- mem[y]; write(x, 0, x, q);")
    assert sets(writer, attack=attack) == [(0,)]


def test_steps_are_never_pruned_by_d() -> None:
    program = instance("r <- mem[x];", "write(z, 1, y, q); write(x, 0, x, q);")
    assert sets(program, attack=begun(Touched(0, 1 << 4 + Y))) == [(1,)]
