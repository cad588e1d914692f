"""The calculus on litmus programs, by itself: every run of a program, step by step, from the rules in
`proofs/models.md`. It shares nothing with the translation: polls count what has not been polled."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.models.litmus.instructions import (
    Assign,
    Assume,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Load,
    MemoryFence,
    NicCompareAndSet,
    NicFetchAdd,
    Poll,
    Put,
    Remote,
    RemoteCompareAndSet,
    Store,
)
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.program.expressions import INT32, evaluator


class Operation(NamedTuple):
    """An operation on its way: where it stands among its thread's, its node, the accesses that are left (the stage and
    what they are to), and what it carries."""

    number: int
    node: int
    left: tuple[tuple[int, str, str], ...]
    value: int = 0
    expected: int = 0


class State(NamedTuple):
    control: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]
    pending: tuple[tuple[Operation, ...], ...]
    unpolled: tuple[tuple[int, ...], ...]  # numbers of operations
    issued: tuple[int, ...]


def accesses(instruction: Remote) -> tuple[tuple[int, str, str], ...]:
    match instruction:
        case Get(local, remote):
            return (0, "read", remote.name), (1, "write", local.name)
        case Put(remote, local):
            return (0, "read", local.name), (1, "write", remote.name)
        case GetAccumulate(local, remote, operand):
            return (0, "read", operand.name), (1, "add", remote.name), (2, "write", local.name)
        case NicFetchAdd(local, remote):
            return (1, "add", remote.name), (2, "write", local.name)
        case NicCompareAndSet(local, remote):
            return (1, "swap", remote.name), (2, "write", local.name)
        case RemoteCompareAndSet(local, remote, expected, new):
            return (
                (0, "read", new.name),
                (0, "expect", expected.name),
                (1, "swap", remote.name),
                (2, "write", local.name),
            )


def is_local(program: Program, thread: int, operation: Operation) -> bool:
    """Whether what is left of it matters to its own thread: it still reads its source, or brings something."""
    node = program.threads[thread].node
    reads = [kind for _, kind, name in operation.left if kind in ("read", "expect")]
    fetches = operation.left[-1][1] == "write" and program.locations[program.places[operation.left[-1][2]]].node == node
    if fetches:
        return True
    return bool(reads)


def outcomes(program: Program, unordered: bool = False) -> set[Outcome]:
    threads = range(len(program.threads))
    start = State(
        (0,) * len(threads),
        tuple((0,) * len(thread.registers) for thread in program.threads),
        tuple(location.initial for location in program.locations),
        ((),) * len(threads),
        ((),) * len(threads),
        (0,) * len(threads),
    )
    seen, stack, found = {start}, [start], set()
    while stack:
        state = stack.pop()
        if not any(state.pending) and all(
            state.control[thread] in program.threads[thread].graph.ends for thread in threads
        ):
            found.add(program.outcome(state.memory, state.registers))
        for thread in threads:
            for after in (*issues(program, state, thread), *steps(program, state, thread, unordered)):
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    return found


def put(items: tuple, index: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:index], item, *items[index + 1 :])


def issues(program: Program, state: State, thread: int) -> list[State]:
    found = []
    registers, memory, pending = state.registers[thread], state.memory, state.pending[thread]
    unpolled, issued = state.unpolled[thread], state.issued[thread]

    def value(expr: object) -> int:
        return evaluator(expr)(registers)  # type: ignore[arg-type]

    for instruction, target in program.threads[thread].graph.out[state.control[thread]]:
        mine, world, left, new, count = registers, memory, pending, unpolled, issued
        match instruction:
            case Load(register, cell):
                mine = put(registers, register, memory[program.places[cell.name]])
            case Store(cell, expr):
                world = put(memory, program.places[cell.name], value(expr))
            case Assign(register, expr):
                mine = put(registers, register, value(expr))
            case Assume(condition):
                if not value(condition):
                    continue
            case MemoryFence():
                pass
            case CompareAndSet(into, cell, expected, wanted):
                place = program.places[cell.name]
                old = memory[place]
                if old == value(expected):
                    world = put(memory, place, value(wanted))
                if into is not None:
                    mine = put(registers, into, old)
            case Flush(node):
                if any(operation.node == node for operation in pending):
                    continue
            case Poll(node):
                due = [number for number, of in new if of == node]  # type: ignore[misc]
                if not due:
                    continue
                oldest = due[0]
                if any(each.number == oldest and is_local(program, thread, each) for each in pending):
                    continue
                new = tuple(each for each in new if each[0] != oldest)  # type: ignore[index]
            case Get() | Put() | GetAccumulate() | RemoteCompareAndSet() | NicCompareAndSet() | NicFetchAdd():
                node = program.node_of(instruction.remote)
                carried = (0, 0)
                if isinstance(instruction, NicCompareAndSet):
                    carried = value(instruction.new), value(instruction.expected)
                elif isinstance(instruction, NicFetchAdd):
                    carried = value(instruction.operand), 0
                left = (*pending, Operation(issued, node, accesses(instruction), *carried))
                new, count = (*unpolled, (issued, node)), issued + 1  # type: ignore[assignment]
            case _:
                raise AssertionError(instruction)
        found.append(
            State(
                put(state.control, thread, target),
                put(state.registers, thread, mine),
                world,
                put(state.pending, thread, left),
                put(state.unpolled, thread, new),
                put(state.issued, thread, count),
            )
        )
    return found


def steps(program: Program, state: State, thread: int, unordered: bool) -> list[State]:
    """The next access of each operation. In a FIFO queue, which is one for each peer, every stage is in order."""
    found = []
    pending = state.pending[thread]
    for position, operation in enumerate(pending):
        stage, kind, name = operation.left[0]
        earlier = [each for each in pending[:position] if each.node == operation.node]
        if not unordered and any(step[0] == stage for each in earlier for step in each.left):
            continue
        place = program.places[name]
        old = state.memory[place]
        memory, after = state.memory, operation._replace(left=operation.left[1:])
        match kind:
            case "read":
                after = after._replace(value=old)
            case "expect":
                after = after._replace(expected=old)
            case "write":
                memory = put(memory, place, operation.value)
            case "add":
                memory, after = put(memory, place, INT32.wrap(old + operation.value)), after._replace(value=old)
            case "swap":
                memory = put(memory, place, operation.value if old == operation.expected else old)
                after = after._replace(value=old)
        stays = (after,) if after.left else ()
        found.append(
            state._replace(
                memory=memory,
                pending=put(state.pending, thread, (*pending[:position], *stays, *pending[position + 1 :])),
            )
        )
    return found
