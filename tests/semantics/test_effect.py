"""What a command does at its issue and in its steps: the part of the rules that X, the SC runs and Y share."""

from __future__ import annotations

import operator

import pytest

from pgasrob.program.expressions import IntType
from pgasrob.program.instance import Memory, Operands
from pgasrob.semantics import effect
from pgasrob.semantics.accesses import Access
from pgasrob.semantics.effect import execute, issue, set_cell, set_register
from pgasrob.semantics.steps import Step

REGISTERS = (10, 20)
MEMORY = (1, 2, 3)


def test_load_sets_the_register_to_the_cell() -> None:
    assert issue(Operands("load", cell=2, register=0), REGISTERS, MEMORY) == ((3, 20), MEMORY)


def test_store_sets_the_cell() -> None:
    assert issue(Operands("store", cell=1, values=(9,)), REGISTERS, MEMORY) == (REGISTERS, (1, 9, 3))


def test_assign_sets_the_register() -> None:
    assert issue(Operands("assign", register=1, values=(9,)), REGISTERS, MEMORY) == ((10, 9), MEMORY)


@pytest.mark.parametrize("kind", ["read", "write", "barrier", "wait", "wait_local", "fence"])
def test_commands_without_an_access_at_issue_change_nothing(kind: str) -> None:
    operands = Operands(kind, source=0, destination=1, queue=0, target=0)
    assert issue(operands, REGISTERS, MEMORY) == (REGISTERS, MEMORY)


@pytest.mark.parametrize(("value", "enabled"), [(0, False), (1, True), (-1, True), (7, True)])
def test_assume_is_enabled_when_it_is_not_zero(value: int, enabled: bool) -> None:
    assert issue(Operands("assume", values=(value,)), REGISTERS, MEMORY) == ((REGISTERS, MEMORY) if enabled else None)


@pytest.mark.parametrize("value", [0, 1])
def test_assert_is_always_enabled(value: int) -> None:
    assert issue(Operands("assert", values=(value,)), REGISTERS, MEMORY) == (REGISTERS, MEMORY)


@pytest.mark.parametrize(("value", "enabled"), [(2, False), (3, False), (4, True)])
def test_await_compares_the_cell_with_the_value(value: int, enabled: bool) -> None:
    """The cell stands on the left: 3 < value."""
    operands = Operands("await", cell=2, values=(value,), relation=operator.lt)
    assert issue(operands, REGISTERS, MEMORY) == ((REGISTERS, MEMORY) if enabled else None)


@pytest.mark.parametrize(
    ("kind", "values", "cell"),
    [
        ("fetch_add", (5,), 7),
        ("fetch_add", (-3,), -1),
        ("fetch_add", (2**31 - 1,), -(2**31) + 1),
        ("swap", (5,), 5),
        ("compare_swap", (2, 5), 5),
        ("compare_swap", (1, 5), 2),
    ],
)
def test_an_atomic_updates_the_cell_and_gives_the_old_value(kind: str, values: tuple[int, ...], cell: int) -> None:
    operands = Operands(kind, cell=1, register=0, values=values)
    assert issue(operands, REGISTERS, MEMORY) == ((2, 20), (1, cell, 3))


def test_set_register_and_set_cell_change_one_place() -> None:
    assert set_register(REGISTERS, Operands("assign", register=0), 5) == (5, 20)
    assert set_cell(MEMORY, 0, 5) == (5, 2, 3)
    assert (REGISTERS, MEMORY) == ((10, 20), (1, 2, 3))


@pytest.mark.parametrize(
    ("type", "cell"), [(IntType(8, signed=True), -126), (IntType(8, signed=False), 130), (IntType(64, True), 130)]
)
def test_fetch_add_wraps_as_its_type(type: IntType, cell: int) -> None:
    operands = Operands("fetch_add", cell=0, register=0, values=(3,), type=type)
    assert issue(operands, REGISTERS, (127,)) == ((127, 20), (cell,))


# A command and some of its steps


def test_a_local_command_has_no_steps() -> None:
    load = Operands("load", cell=2, register=0)
    assert execute(load, REGISTERS, MEMORY) == execute(load, REGISTERS, MEMORY, 0) == ((3, 20), MEMORY)
    assert execute(Operands("assume", values=(0,)), REGISTERS, MEMORY) is None


@pytest.mark.parametrize(("happened", "memory"), [(None, (1, 2, 1)), (2, (1, 2, 1)), (1, MEMORY), (0, MEMORY)])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_the_destination_is_written_by_the_second_step(kind: str, happened: int | None, memory: Memory) -> None:
    operands = Operands(kind, source=0, destination=2, queue=0, target=0)
    assert execute(operands, REGISTERS, MEMORY, happened) == (REGISTERS, memory)


@pytest.mark.parametrize(
    ("happened", "memory"),
    [(0, (1, 2, 3)), (1, (1, 2, 3)), (2, (1, 1, 3)), (3, (1, 1, 3)), (4, (3, 1, 3)), (None, (3, 1, 3))],
)
def test_of_a_longer_chain_the_steps_that_have_happened_have_their_effect(
    happened: int | None, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    accesses = [Access(0, True, False), Access(1, False, True), Access(2, True, False), Access(0, False, True)]
    kinds = ["popb" if made.writes else "popa" for made in accesses]
    chain = tuple(Step(kind, made, stage) for stage, (kind, made) in enumerate(zip(kinds, accesses, strict=True)))
    monkeypatch.setattr(effect, "steps_of", lambda operands: chain)
    operands = Operands("write", source=0, destination=1, queue=0, target=0)
    assert execute(operands, REGISTERS, MEMORY, happened) == (REGISTERS, memory)
