"""What a command does at the moment it is issued: the rules that X(P, N), the SC runs and Y(P, N) share."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.expressions import OPERATORS, IntType, float_value
from pgasrob.program.instance import Memory, Operands, Registers
from pgasrob.semantics.steps import Step, steps_of


def issue(operands: Operands, registers: Registers, memory: Memory) -> tuple[Registers, Memory] | None:
    """Registers and memory after the issue of a command, or None when an assume, await or await_add is not enabled.

    Remote commands, waits, fences and barriers change neither; whether they may be issued is the caller's to say,
    since it depends on what is pending.
    """
    kind, values, cell = operands.kind, operands.values, operands.cell
    if kind == "assume":
        return (registers, memory) if values[0] else None
    if kind == "assign":
        return set_register(registers, operands, values[0]), memory
    if cell is None:
        return registers, memory
    old = memory[cell]
    if kind == "await":
        assert operands.relation is not None
        return (registers, memory) if operands.relation(old, values[0]) else None
    if kind == "store":
        return registers, set_cell(memory, cell, values[0])
    if kind == "put":
        return registers, memory
    if kind == "await_add":
        assert operands.relation is not None
        if not operands.relation(old, values[0]):
            return None
        return registers, set_cell(memory, cell, operands.type.wrap(old + values[1]))
    registers = set_register(registers, operands, old)
    match kind, values:
        case "fetch_update", (operand,):
            assert operands.operation is not None
            memory = set_cell(memory, cell, updated(operands.operation, old, operand, 0, operands.type))
        case "fetch_add", (amount,):
            memory = set_cell(memory, cell, operands.type.wrap(old + amount))
        case "swap", (new,):
            memory = set_cell(memory, cell, new)
        case "compare_swap", (expected, new) if old == expected:
            memory = set_cell(memory, cell, new)
    return registers, memory


def execute(
    operands: Operands, registers: Registers, memory: Memory, happened: int | None = None
) -> tuple[Registers, Memory] | None:
    """Registers and memory after a command and the first ``happened`` of its steps, all when it is None; or None when
    the command is not enabled."""
    after = issue(operands, registers, memory)
    if after is None:
        return None
    carried = captured(operands, memory)
    registers, memory = after
    for step in steps_of(operands)[:happened]:
        memory, carried = take_step(operands, step, memory, carried)
    return registers, memory


class Carried(NamedTuple):
    """What an operation carries from step to step: the value to write, and what a compare_swap expects."""

    value: int = 0
    expected: int = 0


def captured(operands: Operands, memory: Memory) -> Carried:
    """What a remote command carries after its issue, at which memory is ``memory``."""
    if operands.kind == "put":
        assert operands.cell is not None
        return Carried(memory[operands.cell])
    return Carried(*operands.values)


def take_step(operands: Operands, step: Step, memory: Memory, carried: Carried) -> tuple[Memory, Carried]:
    """Memory, and what is carried on, after a step of a command.

    The update of an atomic carries the old value on, for the step that writes the result.
    """
    old = memory[step.access.cell]
    match step.kind:
        case "popa":
            return memory, carried._replace(value=old)
        case "popd":
            return memory, carried._replace(expected=old)
        case "popb" if operands.operation is not None:
            new = updated(operands.operation, old, carried.value, carried.expected, operands.type)
            return set_cell(memory, step.access.cell, new), Carried(old)
    return set_cell(memory, step.access.cell, carried.value), carried


def updated(operation: str, old: int, operand: int, expected: int, type: IntType) -> int:
    """The value of a cell after an atomic ``operation`` (one of :data:`pgasrob.program.commands.UPDATES`)."""
    match operation:
        case "set":
            return operand
        case "fetch":
            return old
        case "compare_swap":
            return operand if old == expected else old
        case "min":
            return min(old, operand)
        case "max":
            return max(old, operand)
        case "min." | "max.":
            smaller = bool(float_value(old) < float_value(operand))
            return old if smaller == (operation == "min.") else operand
    return OPERATORS[_OPERATOR[operation]](old, operand, type)


_OPERATOR = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "add.": "+.", "mul.": "*."}


def set_register(registers: Registers, operands: Operands, value: int) -> Registers:
    """The register file with the register that the command names set to ``value``."""
    index = operands.register
    assert index is not None
    return (*registers[:index], value, *registers[index + 1 :])


def set_cell(memory: Memory, cell: int, value: int) -> Memory:
    """``memory`` with one cell set."""
    return (*memory[:cell], value, *memory[cell + 1 :])
