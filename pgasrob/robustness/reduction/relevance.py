"""Which values decide anything: what a rank does, where it does it, whether it faults or fails an assertion.

A value that is only copied and computed with is the same to the search whatever it is: robustness is about who accesses
what and in which order. So liveness may forget it even while it is still read. Data that a stencil sums up or a lock
protects is mostly of that kind.

The analysis is a fixpoint over registers and cells that ignores the order of commands: what decides something does so
from the beginning to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.program.commands import Assert, Assume, Await, AwaitAdd, Command, expressions_of
from pgasrob.program.expressions import Binary, Conditional, Expr, IntType, Unary, constant, registers_of
from pgasrob.program.instance import Instance
from pgasrob.robustness.attack import Touched
from pgasrob.robustness.reduction.chains import is_place
from pgasrob.robustness.reduction.ranges import ranges

FAULTING = frozenset(("/", "%", "<<", ">>"))
"""The binary operators that have no value for some operands."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """``registers``: for every rank those that may decide something. ``cells``: the cells that may, a bit set."""

    registers: tuple[frozenset[int], ...]
    cells: int


def relevance(instance: Instance) -> Relevance:
    """The registers and cells of ``instance`` whose values may decide something."""
    analysis = _Analysis(instance)
    while analysis.pass_over():
        pass
    return Relevance(tuple(frozenset(registers) for registers in analysis.registers), analysis.cells)


class _Analysis:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.registers: list[set[int]] = [set() for _ in range(instance.nodes)]
        self.cells = 0
        self.commands = [
            (rank, command, touched.read, touched.written)
            for rank in range(instance.nodes)
            for command, touched in _touched(instance, rank).items()
        ]
        for rank, command, read, _ in self.commands:
            for expr in _deciding(command):
                self.registers[rank] |= registers_of(expr)
            if isinstance(command, Await | AwaitAdd):
                self.cells |= read

    def pass_over(self) -> bool:
        """Go over all commands once; says whether something was added."""
        added = False
        for rank, command, read, written in self.commands:
            before = len(self.registers[rank]), self.cells
            self.follow(rank, command, read, written)
            added |= before != (len(self.registers[rank]), self.cells)
        return added

    def follow(self, rank: int, command: Command, read: int, written: int) -> None:
        """What ``command`` computes from decides something when its result does."""
        registers = self.registers[rank]
        decides = bool(written & self.cells)
        if hasattr(command, "register"):
            decides |= command.register.index in registers
        if not decides:
            return
        self.cells |= read
        for expr in expressions_of(command).values():
            registers |= registers_of(expr)


def _touched(instance: Instance, rank: int) -> dict[Command, Touched]:
    """The commands of ``rank``, each with the accesses that it may make wherever it stands."""
    known, found = ranges(instance), dict[Command, Touched]()
    for state, leaving in enumerate(instance.automata[rank].out):
        for transition in leaving:
            made = found.get(transition.command, Touched())
            found[transition.command] = made.joined(known.touched(rank, state, transition))
    return found


def _deciding(command: Command) -> Iterator[Expr]:
    """The expressions of ``command`` that decide something by themselves."""
    exprs = expressions_of(command)
    if isinstance(command, Assume | Assert | Await | AwaitAdd):
        yield from exprs.values()
    for name, expr in exprs.items():
        if is_place(command, name) or _may_fault(expr):
            yield expr


def _may_fault(expr: Expr) -> bool:
    """Whether ``expr`` has no value for some registers, whatever their ranges: what decides nothing is forgotten, and
    then holds a value that is not in its range."""
    match expr:
        case Unary("int", _):
            return True  # a double that no integer is near to
        case Unary(_, operand):
            return _may_fault(operand)
        case Binary(symbol, left, right, type):
            safe = symbol not in FAULTING or _has_value(symbol, constant(right), type)
            return not safe or _may_fault(left) or _may_fault(right)
        case Conditional(condition, then, otherwise):
            return _may_fault(condition) or _may_fault(then) or _may_fault(otherwise)
    return False


def _has_value(symbol: str, right: int | None, type: IntType) -> bool:
    """Whether the operation has a value for every left side."""
    if right is None:
        return False
    return right != 0 if symbol in ("/", "%") else 0 <= right < type.bits
