"""What a command does at the moment it is issued: the rules that X(P, N), the SC runs and Y(P, N) share."""

from __future__ import annotations

from typing import NamedTuple, TypeVar, assert_never

from pgasrob.program import core
from pgasrob.program.core import Cell, Operands
from pgasrob.program.expressions import OPERATORS, RELATIONS, IntType, float_value
from pgasrob.program.instance import Memory, Registers

T = TypeVar("T")
Transferred = core.Transfer[Cell, int]
"""A command with steps, its expressions evaluated."""


def issue(operands: Operands, registers: Registers, memory: Memory) -> tuple[Registers, Memory] | None:
    """Registers and memory after the issue of a command, or None when its condition does not hold: an assume, an await.

    Remote commands, waits, fences and barriers change neither; whether they may be issued is the caller's to say,
    since it depends on what is pending.
    """
    match operands:
        case core.Assign(register, value):
            return put(registers, register, value), memory
        case core.Test(condition, blocks):
            return None if blocks and not condition else (registers, memory)
        case core.Immediate(access, compared, update, loaded, until):
            old = memory[access.cell]
            if compared is not None and not RELATIONS[compared.relation](old, compared.value):
                return None
            if loaded is not None:
                registers = put(registers, loaded, old)
            if until is not None and not until.satisfied(registers):
                return None
            if update is not None:
                assert update.operand is not None, "what is updated at the issue has its operand then"
                new = updated(update.operation, old, update.operand, update.expected or 0, update.type)
                memory = put(memory, access.cell, new)
            return registers, memory
        case core.Transfer() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
            return registers, memory
        case _:
            assert_never(operands)


def execute(
    operands: Operands, registers: Registers, memory: Memory, happened: int | None = None
) -> tuple[Registers, Memory] | None:
    """Registers and memory after a command and the first ``happened`` of its steps, all when it is None; or None when
    the command is not enabled."""
    after = issue(operands, registers, memory)
    if after is None or not isinstance(operands, core.Transfer):
        return after
    carried = captured(operands, memory)
    registers, memory = after
    for step in operands.steps[:happened]:
        memory, carried = take_step(operands.update, step, memory, carried)
    return registers, memory


class Carried(NamedTuple):
    """What an operation carries from step to step: the value to write, and what a compare_swap expects."""

    value: int = 0
    expected: int = 0


def captured(transfer: Transferred, memory: Memory) -> Carried:
    """What a remote command carries after its issue, at which memory is ``memory``."""
    if transfer.captured is not None:
        return Carried(memory[transfer.captured.cell])
    update = transfer.update
    return Carried() if update is None else Carried(update.operand or 0, update.expected or 0)


def take_step(
    update: core.Update[int] | None, step: core.Step[Cell], memory: Memory, carried: Carried
) -> tuple[Memory, Carried]:
    """Memory, and what is carried on, after a step of a command with this ``update``.

    The update of an atomic carries the old value on, for the step that writes the result.
    """
    cell = step.access.cell
    old = memory[cell]
    match step.kind:
        case "popa":
            return memory, carried._replace(value=old)
        case "popd":
            return memory, carried._replace(expected=old)
        case "popb" if update is not None:
            new = updated(update.operation, old, carried.value, carried.expected, update.type)
            return put(memory, cell, new), Carried(old)
        case "popb" | "popc":
            return put(memory, cell, carried.value), carried
        case _:
            assert_never(step.kind)


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
    return OPERATORS[OPERATOR_OF[operation]](old, operand, type)


OPERATOR_OF = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "add.": "+.", "mul.": "*."}


def put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """``items`` with another one at ``index``: registers with one of them set, memory with one cell written."""
    changed = list(items)  # faster than slices
    changed[index] = item
    return tuple(changed)
