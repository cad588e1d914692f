"""Cells that a rank alone uses are read as registers (`proofs/every-n.md`, section 2): what that proves, and what the
conditions are for."""

from __future__ import annotations

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.every_n import private_cells, prove
from pgasrob.robustness.every_n.prove import Prover
from tests.robustness.every_n.test_named_views import proof, verdict
from tests.robustness.every_n.test_proved_facts import HEADER, RING, proved, seen

LOCK = (
    "r <- 1; while (r != 0) {{ s <- compare_swap(0, x, 0, me + 1); mem[y] <- s; r <- mem[y]; }} "
    "{} s <- compare_swap(0, x, me + 1, 0);"
)


def private(block: str) -> set[int]:
    """The addresses of the private cells of a program: x, y, f, g and one are 0 to 4."""
    return {*Prover(parse(f"{HEADER}{block} }}"), DEFAULT_READING)._private.registers}


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("mem[x] <- 1; r <- mem[y];", {0, 1}),
        ("mem[x] <- 1; put(x, 0, y, q);", {0}),
        ("mem[x] <- 1; write(x, 0, y, q);", set()),
        ("mem[x] <- 1; read(y, 0, f, q);", {0}),
        ("mem[x] <- 1; await(mem[x] == 1);", set()),
        ("mem[x] <- 1; if (me == 3) { r <- fetch(1, x); }", set()),
        ("mem[y] <- 1; r <- mem[y]; s <- mem[x + r];", set()),
        ("mem[x] <- 1; assume(0); r <- fetch(1, x);", {0}),
    ],
)
def test_which_cells_are_private(block: str, found: set[int]) -> None:
    assert private(block) == found


def test_a_lock_whose_holder_is_found_in_memory_has_no_deadlock() -> None:
    assert proved(parse(f"{HEADER}{LOCK.format('mem[g @ 0] <- me; r <- fetch(0, g); assert(r == me);')} }}"), None) == (
        True, True, 4,
    )  # fmt: skip


def test_it_begins_with_what_is_in_the_cell() -> None:
    assert proved(parse(f"{HEADER} r <- mem[one]; assert(r == 1); mem[one] <- 0; }}"), None) == (True, True, 4)
    claims = proved(parse(f"{HEADER} r <- mem[one]; assert(r == 0); }}"), None)
    assert claims is not None and not claims[0]


def with_x_for_private(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(prove, "private_cells", lambda flows, cells, registers: private_cells.PrivateCells({0: registers}))


def test_what_others_write_is_no_register(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(f"{HEADER} mem[x @ {RING}] <- 1; barrier; r <- mem[x]; assert(r == 0); }}")
    assert seen(program, 7)[0] and proved(program, None) == (False, True, 7)
    with_x_for_private(monkeypatch)
    assert proved(program, None) == (True, True, 7)


def test_what_is_read_after_the_issue_is_no_register(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(f"{HEADER} write(x, {RING}, y, q); mem[x] <- 1; }}")
    assert verdict(program, 7) == "not robust" and not proof(program).holds
    with_x_for_private(monkeypatch)
    assert proof(program).holds


def test_a_poll_of_a_private_cell_is_a_look_at_the_register() -> None:
    poll = "mem[f] <- 1; r <- 0; while (r != 1) { r <- mem[f]; }"
    program = parse(f"{HEADER} write(x, me < 2 ? 1 - me : me, y, q); {poll} r <- mem[y]; }}")
    assert verdict(program, 2) == "not robust" and not proof(program).holds
