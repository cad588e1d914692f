"""What a command does at the moment it is issued: the rules that X(P, N), the SC runs and Y(P, N) share."""

from __future__ import annotations

from pgasrob.program.instance import Memory, Operands, Registers
from pgasrob.semantics.steps import steps_of


def issue(operands: Operands, registers: Registers, memory: Memory) -> tuple[Registers, Memory] | None:
    """Registers and memory after the issue of a command, or None when an assume or await is not enabled.

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
    registers = set_register(registers, operands, old)
    match kind, values:
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
    the command is not enabled.

    What a step reads, the next step that writes carries on.
    """
    after = issue(operands, registers, memory)
    if after is None:
        return None
    registers, memory = after
    carried = 0
    for step in steps_of(operands)[:happened]:
        if step.access.writes:
            memory = set_cell(memory, step.access.cell, carried)
        else:
            carried = memory[step.access.cell]
    return registers, memory


def set_register(registers: Registers, operands: Operands, value: int) -> Registers:
    """The register file with the register that the command names set to ``value``."""
    index = operands.register
    assert index is not None
    return (*registers[:index], value, *registers[index + 1 :])


def set_cell(memory: Memory, cell: int, value: int) -> Memory:
    """``memory`` with one cell set."""
    return (*memory[:cell], value, *memory[cell + 1 :])
