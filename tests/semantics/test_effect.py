"""What a command does at its issue: the part of the rules that X, the SC runs and Y share."""

from __future__ import annotations

import operator

import pytest

from pgasrob.program.instance import Operands
from pgasrob.semantics.effect import issue, set_cell, set_register

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
