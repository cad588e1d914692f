"""Which slots a function still reads, and whether it looks at their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

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
    Set,
    Slot,
    Store,
    Stride,
    Unary,
)
from pgasrob.stop_points import stop_point

COMPUTES = (Set, Move, Convert, Unary, Binary)
"""Instructions that do nothing but give their targets a value."""


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


Looks = Callable[[Instruction], tuple[Slot, ...]]


def live_slots(function: CompiledFunction, looks: Looks = reads) -> list[frozenset[Slot]]:
    """For every place of the code the slots whose present value may still be read from there on.

    ``looks``: those that an instruction reads, whatever comes after it. What only computes reads its sources as far as
    its target is live, too.
    """
    code = function.code
    before: list[list[int]] = [[] for _ in code]
    for index in range(len(code)):
        for following in successors(code, index):
            before[following].append(index)
    live: list[frozenset[Slot]] = [frozenset()] * len(code)
    pending = list(range(len(code)))
    queued = set(pending)
    while pending:
        stop_point()
        index = pending.pop()
        queued.discard(index)
        instruction = code[index]
        after: set[Slot] = set()
        for following in successors(code, index):
            after |= live[following]
        target = getattr(instruction, "target", None)
        if target in after and isinstance(instruction, COMPUTES):
            after.update(reads(instruction))
        after.discard(target)
        after.update(looks(instruction))
        if after != live[index]:
            live[index] = frozenset(after)
            for previous in before[index]:
                if previous not in queued:
                    queued.add(previous)
                    pending.append(previous)
    return live


class Looked(NamedTuple):
    """For every place of a function, its end included, the slots whose present values it ``surely`` looks at on some
    way, by a branch or output; ``maybe`` looks at, by a call or as a pointer; or ``returns``. What it stores, others
    may look at in memory; a division that may fault is a command."""

    surely: list[frozenset[Slot]]
    maybe: list[frozenset[Slot]]
    returns: list[frozenset[Slot]]


def looked_at(function: CompiledFunction, is_output: Callable[[str], bool]) -> Looked:
    """The slots of ``function`` at whose values it looks."""

    def surely(instruction: Instruction) -> tuple[Slot, ...]:
        called = instruction.function if isinstance(instruction, Call) else None
        looks = isinstance(instruction, Branch) or (isinstance(called, str) and is_output(called))
        return reads(instruction) if looks else ()

    def maybe(instruction: Instruction) -> tuple[Slot, ...]:
        match instruction:
            case Store(pointer):
                return (pointer,)
            case Return() | Set() | Move() | Convert() | Unary() | Binary():
                return ()
        return reads(instruction)

    def returns(instruction: Instruction) -> tuple[Slot, ...]:
        return reads(instruction) if isinstance(instruction, Return) else ()

    return Looked(*([*live_slots(function, looks), frozenset()] for looks in (surely, maybe, returns)))
