"""The control flow of a thread, which the machines of all models share: what each instruction does is up to a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, Self, TypeVar

from pgasrob.models.litmus.instructions import Assign, Assume, Instruction
from pgasrob.models.litmus.litmus_program import Graph
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.operational import Option, Result, Step, at, fixed
from pgasrob.program.expressions import Expr, Fault, evaluator


class ThreadState(Protocol):
    """A state of a thread: its control state (-1: it has chosen to end), its registers, and what a model adds."""

    @property
    def control(self) -> int: ...

    @property
    def registers(self) -> tuple[int, ...]: ...

    def _replace(self, *, control: int = ..., registers: tuple[int, ...] = ...) -> Self: ...

    def __hash__(self) -> int: ...


Local = TypeVar("Local", bound=ThreadState)
Change = tuple[bool, Option | None]
"""What may be done next, None where that has to wait, and whether it can be done first (`operational`)."""
Execute = Callable[[Local], Iterator[Change]]
"""What an instruction may do in a state whose control state is already the one behind the instruction."""


class Control(Generic[Local]):
    """Executes the instructions of a ``graph`` one after the other; ``compiled``: what each of them does."""

    def __init__(self, graph: Graph, compiled: Callable[[Instruction], Execute[Local]]) -> None:
        self._ends = graph.ends
        self._edges = [[(compiled(instruction), target) for instruction, target in edges] for edges in graph.out]

    def ended(self, local: Local) -> bool:
        """Whether the thread executes nothing any more."""
        return local.control < 0 or (local.control in self._ends and not self._edges[local.control])

    def executed(self, local: Local) -> tuple[bool, list[Option]]:
        """What the thread may execute next, and whether it executes anything and all of it can be done first."""
        edges = self._edges[local.control] if local.control >= 0 else []
        first, found = bool(edges), list[Option]()
        for execute, target in edges:
            for may_be_first, option in execute(local._replace(control=target)):
                first = first and may_be_first
                if option is not None:
                    found.append(option)
        if edges and local.control in self._ends:
            found.append(fixed(Result((), local._replace(control=-1))))
        return first, found


def value_of(expression: Expr, instruction: Instruction) -> Callable[[Sequence[int]], int]:
    """The value of an ``expression`` of ``instruction``, by the registers; it raises :class:`Refused` where it has
    none."""
    evaluate = evaluator(expression)

    def value(registers: Sequence[int]) -> int:
        try:
            return evaluate(registers)
        except Fault as fault:
            raise Refused((Refusal(f"an expression has no value in some run: {fault}", instruction.span),)) from None

    return value


def assigned(thread: int, instruction: Assign) -> Execute[Local]:
    value, word = value_of(instruction.value, instruction), (Step(thread, "assign", instruction),)

    def execute(local: Local) -> Iterator[Change]:
        registers = at(local.registers, instruction.register, value(local.registers))
        yield True, fixed(Result(word, local._replace(registers=registers)))

    return execute


def assumed(thread: int, instruction: Assume) -> Execute[Local]:
    holds, word = value_of(instruction.condition, instruction), (Step(thread, "assume", instruction),)

    def execute(local: Local) -> Iterator[Change]:
        yield True, fixed(Result(word, local)) if holds(local.registers) else None

    return execute
