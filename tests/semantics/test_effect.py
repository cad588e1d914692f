"""What a command does at its issue and in its steps: the part of the rules that X, the SC runs and Y share."""

from __future__ import annotations

import pytest

from pgasrob.program.core import Access, Comparison, Immediate, Step, StepKind, Transfer, Update
from pgasrob.program.expressions import IntType, float_bits
from pgasrob.program.instance import Memory
from pgasrob.semantics.effect import execute, issue, put, updated
from tests.support import instance, operands

REGISTERS = (10, 20)
MEMORY = (1, 2, 3)


def test_load_sets_the_register_to_the_cell() -> None:
    assert issue(operands("r <- mem[z]"), REGISTERS, MEMORY) == ((3, 20), MEMORY)


def test_store_sets_the_cell() -> None:
    assert issue(operands("mem[y] <- 9"), REGISTERS, MEMORY) == (REGISTERS, (1, 9, 3))


def test_assign_sets_the_register() -> None:
    assert issue(operands("s <- 9"), REGISTERS, MEMORY) == ((10, 9), MEMORY)


@pytest.mark.parametrize(
    "command", ["read(x, 0, y, q)", "write(x, 0, y, q)", "barrier", "wait(q)", "wait_local(q)", "fence(q, 0)"]
)
def test_commands_without_an_access_at_issue_change_nothing(command: str) -> None:
    assert issue(operands(command), REGISTERS, MEMORY) == (REGISTERS, MEMORY)


@pytest.mark.parametrize(("value", "enabled"), [(0, False), (1, True), (-1, True), (7, True)])
def test_assume_is_enabled_when_it_is_not_zero(value: int, enabled: bool) -> None:
    assert issue(operands(f"assume({value})"), REGISTERS, MEMORY) == ((REGISTERS, MEMORY) if enabled else None)


@pytest.mark.parametrize("value", [0, 1])
def test_assert_is_always_enabled(value: int) -> None:
    assert issue(operands(f"assert({value})"), REGISTERS, MEMORY) == (REGISTERS, MEMORY)


@pytest.mark.parametrize(("value", "enabled"), [(2, False), (3, False), (4, True)])
def test_await_compares_the_cell_with_the_value(value: int, enabled: bool) -> None:
    """The cell stands on the left: 3 < value."""
    assert issue(operands(f"await(mem[z] < {value})"), REGISTERS, MEMORY) == ((REGISTERS, MEMORY) if enabled else None)


@pytest.mark.parametrize(
    ("kind", "values", "cell"),
    [
        ("fetch_add", (5,), 7),
        ("fetch_add", (-3,), -1),
        ("fetch_add", (2**31 - 1,), -(2**31) + 1),
        ("swap", (5,), 5),
        ("compare_swap", (2, 5), 5),
    ],
)
def test_an_atomic_updates_the_cell_and_gives_the_old_value(kind: str, values: tuple[int, ...], cell: int) -> None:
    command = f"r <- {kind}(0, y, {', '.join(map(str, values))})"
    assert issue(operands(command), REGISTERS, MEMORY) == ((2, 20), (1, cell, 3))


def test_a_compare_swap_is_one_of_two_commands() -> None:
    for expected, after in ((2, [((2, 20), (1, 5, 3)), None]), (1, [None, ((2, 20), MEMORY)])):
        ways = instance(f"r <- compare_swap(0, y, {expected}, 5);").evaluated(0, 0, REGISTERS)
        assert [issue(each, REGISTERS, MEMORY) for _, each in ways] == after


def test_put_changes_one_place() -> None:
    assert put(REGISTERS, 0, 5) == (5, 20)
    assert put(MEMORY, 0, 5) == (5, 2, 3)
    assert (REGISTERS, MEMORY) == ((10, 20), (1, 2, 3))


@pytest.mark.parametrize(
    ("type", "cell"), [(IntType(8, signed=True), -126), (IntType(8, signed=False), 130), (IntType(64, True), 130)]
)
def test_fetch_add_wraps_as_its_type(type: IntType, cell: int) -> None:
    fetch_add = Immediate(Access(0, True, True), update=Update("add", 3, type=type), register=0)
    assert issue(fetch_add, REGISTERS, (127,)) == ((127, 20), (cell,))


@pytest.mark.parametrize(
    ("type", "cell"), [(IntType(8, signed=True), -126), (IntType(8, signed=False), 130), (IntType(64, True), 130)]
)
def test_await_add_wraps_as_its_type(type: IntType, cell: int) -> None:
    await_add = Immediate(Access(0, True, True), Comparison(">", 0), Update("add", 3, type=type))
    assert issue(await_add, REGISTERS, (127,)) == (REGISTERS, (cell,))


@pytest.mark.parametrize(
    ("operation", "old", "operand", "new"),
    [
        ("min.", -2.0, -1.0, -2.0),  # as integers the bits of -2 are the greater ones
        ("min.", -1.0, -2.0, -2.0),
        ("max.", -2.0, -1.0, -1.0),
        ("max.", -1.0, -2.0, -1.0),
        ("min.", 0.5, 2.0, 0.5),
        ("max.", 0.5, 2.0, 2.0),
        ("min.", 0.0, -0.0, -0.0),  # of equals the operand, as in C: old < operand ? old : operand
        ("max.", -0.0, 0.0, -0.0),
        ("add.", 0.25, 2.0, 2.25),
        ("mul.", 0.25, 2.0, 0.5),
    ],
)
def test_updates_of_doubles(operation: str, old: float, operand: float, new: float) -> None:
    type = IntType(64, signed=True)
    assert updated(operation, float_bits(old), float_bits(operand), 0, type) == float_bits(new)


# A command and some of its steps


def test_a_local_command_has_no_steps() -> None:
    load = operands("r <- mem[z]")
    assert execute(load, REGISTERS, MEMORY) == execute(load, REGISTERS, MEMORY, 0) == ((3, 20), MEMORY)
    assert execute(operands("assume(0)"), REGISTERS, MEMORY) is None


@pytest.mark.parametrize(("happened", "memory"), [(None, (1, 2, 1)), (2, (1, 2, 1)), (1, MEMORY), (0, MEMORY)])
@pytest.mark.parametrize("command", ["read(z, 0, x, q)", "write(x, 0, z, q)"])
def test_the_destination_is_written_by_the_second_step(command: str, happened: int | None, memory: Memory) -> None:
    assert execute(operands(command), REGISTERS, MEMORY, happened) == (REGISTERS, memory)


@pytest.mark.parametrize(
    ("happened", "memory"),
    [(0, (1, 2, 3)), (1, (1, 2, 3)), (2, (1, 1, 3)), (3, (1, 1, 3)), (4, (3, 1, 3)), (None, (3, 1, 3))],
)
def test_of_a_longer_chain_the_steps_that_have_happened_have_their_effect(happened: int | None, memory: Memory) -> None:
    accesses = [Access(0, True, False), Access(1, False, True), Access(2, True, False), Access(0, False, True)]
    kinds: list[StepKind] = ["popb" if made.writes else "popa" for made in accesses]
    chain = tuple(Step(kind, made, stage) for stage, (kind, made) in enumerate(zip(kinds, accesses, strict=True)))
    assert execute(Transfer(0, 0, chain), REGISTERS, MEMORY, happened) == (REGISTERS, memory)
