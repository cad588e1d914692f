"""Which slots a function still reads."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.c.code import (
    Binary,
    Branch,
    Call,
    Clear,
    CompiledFunction,
    Convert,
    Copy,
    Difference,
    Instruction,
    Jump,
    Load,
    Move,
    Offset,
    Return,
    Slot,
    Store,
    Stride,
    Unary,
)


def successors(code: Sequence[Instruction], index: int) -> tuple[int, ...]:
    """Where the run goes on behind the instruction at ``index``."""
    match code[index]:
        case Jump(to):
            return (to,)
        case Branch(_, yes, no):
            return (yes, no)
        case Return():
            return ()
        case _:
            return (index + 1,) if index + 1 < len(code) else ()


def reads(instruction: Instruction) -> tuple[Slot, ...]:
    """The slots that ``instruction`` reads."""
    match instruction:
        case Move(_, source) | Convert(_, source) | Unary(_, _, source):
            return (source,)
        case Binary(_, _, left, right) | Difference(_, left, right):
            return (left, right)
        case Offset(_, pointer, index):
            return (pointer,) if index is None else (pointer, index)
        case Stride(_, pointer, index, size):
            return pointer, index, size
        case Load(_, pointer) | Clear(pointer):
            return (pointer,)
        case Store(pointer, source) | Copy(pointer, source):
            return (pointer, source)
        case Branch(condition):
            return (condition,)
        case Call(_, function, arguments):
            return arguments if isinstance(function, str) else (function, *arguments)
        case Return(source) if source is not None:
            return (source,)
        case _:
            return ()


def live_slots(function: CompiledFunction) -> list[frozenset[Slot]]:
    """For every place of the code the slots whose present value may still be read from there on."""
    code = function.code
    before: list[list[int]] = [[] for _ in code]
    for index in range(len(code)):
        for following in successors(code, index):
            before[following].append(index)
    live: list[frozenset[Slot]] = [frozenset()] * len(code)
    pending = list(range(len(code)))
    queued = set(pending)
    while pending:
        index = pending.pop()
        queued.discard(index)
        instruction = code[index]
        after: set[Slot] = set()
        for following in successors(code, index):
            after |= live[following]
        target = getattr(instruction, "target", None)
        after.discard(target)
        after.update(reads(instruction))
        if after != live[index]:
            live[index] = frozenset(after)
            for previous in before[index]:
                if previous not in queued:
                    queued.add(previous)
                    pending.append(previous)
    return live
