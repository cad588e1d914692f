"""Threads of operational models: their control flow, and the instructions that do the same in several of the models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, Self, TypeVar

from pgasrob.models.litmus.instructions import Assign, Assume, CompareAndSet, Instruction, Load, MemoryFence
from pgasrob.models.litmus.litmus_program import Graph, Program
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.operational import Access, Begun, Option, Queue, Result, Sharing, Step, at, fixed
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
CPU: Queue = ("cpu", -1)
STORE: Queue = ("store", -1)
FENCE = Begun("F", None, CPU)

Change = tuple[bool, Option | None]
"""Whether something can be done first (`operational`), and what it is; None where it has to wait."""
Execute = Callable[[Local], Iterator[Change]]
"""The ways in which an instruction may execute in a state whose control state is already the one after the
instruction."""


class Control(Generic[Local]):
    """Executes the instructions of a control ``graph``; ``compiled`` gives for each of them the function that executes
    it."""

    def __init__(self, graph: Graph, compiled: Callable[[Instruction], Execute[Local]]) -> None:
        self._ends = graph.ends
        self._edges = [[(compiled(instruction), target) for instruction, target in edges] for edges in graph.out]

    def ended(self, local: Local) -> bool:
        """Whether the thread has no more instructions to execute."""
        return local.control < 0 or (local.control in self._ends and not self._edges[local.control])

    def executed(self, local: Local) -> tuple[bool, list[Option]]:
        """Whether there is something to execute and all of it can be done first, and the options."""
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


class MachineThread(Generic[Local]):
    """What the threads of all machines have in common; a model adds a visitor of the other instructions."""

    def __init__(self, program: Program, number: int, sharing: Sharing, reduced: bool) -> None:
        self.program, self.number, self.sharing, self.reduced = program, number, sharing, reduced

    def registers(self, local: Local) -> tuple[int, ...]:
        return local.registers

    def assign(self, instruction: Assign) -> Execute[Local]:
        value, word = value_of(instruction.value, instruction), (Step(self.number, "assign", instruction),)

        def execute(local: Local) -> Iterator[Change]:
            yield True, fixed(Result(word, with_register(local, instruction.register, value(local.registers))))

        return execute

    def assume(self, instruction: Assume) -> Execute[Local]:
        word = (Step(self.number, "assume", instruction),)
        holds = value_of(instruction.condition, instruction)

        def execute(local: Local) -> Iterator[Change]:
            yield True, fixed(Result(word, local)) if holds(local.registers) else None

        return execute

    def waiting(self, step: Step, waits: Callable[[Local], object] = lambda _: False) -> Execute[Local]:
        """``step``, which changes nothing in the thread, once it does not have to wait."""

        def execute(local: Local) -> Iterator[Change]:
            yield (False, None) if waits(local) else (True, fixed(Result((step,), local)))

        return execute

    # What a CPU with a store buffer does in memory, or to a store in its buffer, when the model lets it.

    def mfence(self, instruction: MemoryFence) -> Step:
        return Step(self.number, "mfence", instruction, (FENCE,), (Access(CPU),))

    def loaded(self, instruction: Load, local: Local, value: int, own: int | None = None) -> Result:
        """A load has got ``value`` from memory, or from the store that has so many others before it in the buffer."""
        location, source = self.program.place(instruction.cell), None if own is None else (STORE, own)
        access = Access(CPU, 0, location, value, None, source)
        word = (Step(self.number, "load", instruction, (Begun("lR", location, CPU),), (access,)),)
        return Result(word, with_register(local, instruction.register, value))

    def compares(self, instruction: CompareAndSet) -> Callable[[Local], Callable[[int], Result]]:
        """A compare-and-set in a state, by the value that memory holds. One that fails is a fence and a read."""
        location = self.program.place(instruction.cell)
        expected, new = value_of(instruction.expected, instruction), value_of(instruction.new, instruction)

        def compared(local: Local) -> Callable[[int], Result]:
            wanted, written = expected(local.registers), new(local.registers)

            def then(value: int) -> Result:
                after = with_register(local, instruction.register, value)
                if value == wanted:
                    accesses: tuple[Access, ...] = (Access(CPU, 0, location, value, written),)
                    step = Step(self.number, "CAS", instruction, (Begun("CAS", location, CPU),), accesses)
                    return Result((step,), after, ((location, written),))
                begins, accesses = (FENCE, Begun("lR", location, CPU)), (Access(CPU), Access(CPU, 0, location, value))
                return Result((Step(self.number, "failed CAS", instruction, begins, accesses),), after)

            return then

        return compared


def with_register(local: Local, register: int | None, value: int) -> Local:
    """``local`` with ``value`` in ``register``, if there is one."""
    return local if register is None else local._replace(registers=at(local.registers, register, value))
