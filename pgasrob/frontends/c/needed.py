"""Which values matter: not those that are only printed, however much is computed for that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from pgasrob.frontends.c import code
from pgasrob.frontends.c.code import CompiledFunction, Slot
from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.liveness import COMPUTES, reads
from pgasrob.frontends.c.types import Pointer
from pgasrob.program.commands import Assign, expressions_of
from pgasrob.program.expressions import Expr, faults_inside, registers_of
from pgasrob.program.graphs import reached, reached_by
from pgasrob.program.statements import Block, Choose, Do, If, Labelled, Skip, Statement, While, statements_in
from pgasrob.stop_points import stop_point


def needed_slots(
    function: CompiledFunction, is_output: Callable[[str], bool], displayed: Collection[Slot] = ()
) -> frozenset[Slot]:
    """The slots that something other than output depends on, or what is ``displayed`` of it: a counter of attempts is
    none of them. Output reads what pointers point to, other than string literals, and as much of it as numbers beside
    them may say."""
    found = set(displayed)
    texts = literals(function)
    for instruction in function.code:
        if isinstance(instruction, COMPUTES):
            continue
        called = instruction.function if isinstance(instruction, code.Call) else None
        if not isinstance(called, str) or not is_output(called) or _reads_memory(instruction, texts):
            found.update(reads(instruction))
    computed = (each for each in function.code if isinstance(each, COMPUTES))
    return frozenset(reached_by(((each.target, slot) for each in computed for slot in reads(each)), found))


def _reads_memory(call: code.Instruction, texts: frozenset[Slot]) -> bool:
    """Whether a call of output has a pointer to anything but a literal."""
    assert isinstance(call, code.Call)
    given = zip(call.arguments, call.types, strict=False)
    return any(isinstance(type, Pointer) and slot not in texts for slot, type in given)


def literals(function: CompiledFunction) -> frozenset[Slot]:
    """The slots that never point to anything but string literals and streams."""
    found = set(range(len(function.slots))) - set(function.parameters)
    while True:
        stop_point()
        before = len(found)
        for instruction in function.code:
            target = getattr(instruction, "target", None)
            match instruction:
                case code.String() | code.Set():
                    continue
                case code.Move(_, source) | code.Convert(_, source) if source in found:
                    continue
            found.discard(target)
        if len(found) == before:
            return frozenset(found)


def needed_registers(nodes: Iterable[Node], decisive: Iterable[Expr]) -> set[int]:
    """The registers that something reads, but assignments to registers that are not among them; of the conditions of
    branches only the ``decisive`` ones do."""
    needed = {register for condition in decisive for register in registers_of(condition)}
    assigned: dict[int, set[int]] = {}
    for node in nodes:
        for expr, target in _expressions(node.statements):
            if target is None:
                needed |= registers_of(expr)
            else:
                assigned.setdefault(target, set()).update(registers_of(expr))
    return reached(needed, lambda register: assigned.get(register, ()))


def _expressions(statements: Sequence[Statement]) -> Iterator[tuple[Expr, int | None]]:
    """All expressions, with the register that an assignment gives them to which may be left out."""
    for statement in statements_in(statements):
        match statement:
            case Do(Assign(register, value)):
                yield value, None if faults_inside(value) else register.index
            case Do(command):
                for expr in expressions_of(command).values():
                    yield expr, None
            case If(condition) | While(condition):
                yield condition, None


def without_idle_assignments(statements: Sequence[Statement], needed: set[int]) -> Iterator[Statement]:
    """``statements`` without assignments to registers that are not ``needed``."""
    for statement in statements:
        match statement:
            case Do(Assign(register, value)) if register.index not in needed and not faults_inside(value):
                continue
            case Labelled(label, inner):
                yield Labelled(label, next(without_idle_assignments((inner,), needed), Skip()))
            case If(condition, then, otherwise, span):
                no = Block(tuple(without_idle_assignments(otherwise.statements, needed))) if otherwise else None
                yield If(condition, Block(tuple(without_idle_assignments(then.statements, needed))), no, span)
            case Choose(branches):
                kept = tuple(Block(tuple(without_idle_assignments(branch.statements, needed))) for branch in branches)
                if any(branch.statements for branch in kept):
                    yield Choose(kept)
            case _:
                yield statement
