"""x86-TSO, the CPUs of one node: store buffers in front of a memory (Owens, Sarkar, Sewell, TPHOLs 2009).

Written from that description, and not from RDMA-TSO, which must coincide with it on programs without remote operations
(Theorem 4.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from pgasrob.models.litmus.program import (
    Assign,
    Assume,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    MemoryFence,
    Poll,
    Program,
    Put,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
)
from pgasrob.models.model import Outcomes, Refusal, Refused
from pgasrob.models.operational import (
    Access,
    Accessed,
    Begun,
    Machine,
    Option,
    Queue,
    Result,
    Sharing,
    Step,
    at,
    evaluated,
    fixed,
    outcomes,
)
from pgasrob.program.expressions import evaluator
from pgasrob.robustness.watch import Watch

CPU: Queue = ("cpu", -1)
STORE: Queue = ("store", -1)


NETWORK = {
    Get: "get",
    Put: "put",
    GetAccumulate: "rga",
    RemoteCompareAndSet: "cas",
    Flush: "flush",
    Poll: "poll",
    RemoteFence: "rfence",
}
"""What it knows nothing of."""


class Tso:
    """The model; it knows of no network, and of no accesses that are not atomic."""

    name = "tso"
    semantics = None
    variant = ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return tuple(
            refusal
            for thread in program.threads
            for instruction in thread.graph.instructions
            for refusal in _refusals(instruction)
        )

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises :class:`Refused`."""
        return outcomes(self.machine(program), watch)

    def machine(self, program: Program, reduced: bool = True) -> Machine[Hart]:
        """The machine that runs ``program``. Raises :class:`Refused`."""
        if refusals := self.refusals(program):
            raise Refused(refusals)

        def accessed(number: int, instruction: Instruction) -> Iterator[Accessed]:
            if isinstance(instruction, Load | Store | CompareAndSet):
                reads, writes = not isinstance(instruction, Store), not isinstance(instruction, Load)
                yield number, program.places[instruction.cell.name], reads, writes

        sharing = Sharing(program, accessed)
        threads = [_Thread(program, number, sharing, reduced) for number in range(len(program.threads))]
        return Machine(program, threads, sharing.constant if reduced else frozenset())


class Hart(NamedTuple):
    """A hardware thread: control state (-1: it has chosen to end), registers, the stores that are not in memory, the
    oldest first."""

    control: int
    registers: tuple[int, ...]
    buffer: tuple[tuple[int, int], ...] = ()


class _Thread:
    def __init__(self, program: Program, number: int, sharing: Sharing, reduced: bool) -> None:
        thread = program.threads[number]
        self._number, self._graph, self._places = number, thread.graph, program.places
        self._sharing, self._reduced = sharing, reduced
        self.initial = Hart(0, (0,) * len(thread.registers))

    def registers(self, hart: Hart) -> tuple[int, ...]:
        return hart.registers

    def finished(self, hart: Hart) -> bool:
        stopped = hart.control < 0 or (hart.control in self._graph.ends and not self._graph.out[hart.control])
        return stopped and not hart.buffer

    def options(self, hart: Hart) -> tuple[bool, Sequence[Option]]:
        """First may come what touches registers and the young end of the buffer alone, or a location of this thread."""
        drained = []
        if hart.buffer:
            (location, value), *rest = hart.buffer
            word = (Step(self._number, "drain", None, (), (Access(STORE, 0, location, None, value),)),)
            drained = [fixed(Result(word, hart._replace(buffer=tuple(rest)), ((location, value),)))]
            if self._reduced and self._sharing.own(self._number, location):
                return True, drained
        options: list[Option] = []
        edges = self._graph.out[hart.control] if hart.control >= 0 else ()
        first = self._reduced and bool(edges)
        for instruction, target in edges:
            for local, option in self._executed(hart, instruction, target):
                first &= local
                options += [] if option is None else [option]
        if edges and hart.control in self._graph.ends:
            options.append(fixed(Result((), hart._replace(control=-1))))
        return (True, options) if first else (False, options + drained)

    def _executed(self, hart: Hart, instruction: Instruction, target: int) -> Iterator[tuple[bool, Option | None]]:
        """What the thread does with its next instruction, None where it has to wait."""
        number, registers = self._number, hart.registers
        match instruction:
            case Store(cell, expression):
                location = self._places[cell.name]
                value = evaluated(evaluator(expression), registers, instruction)
                word = (Step(number, "store", instruction, (Begun("lW", location, STORE),)),)
                yield True, fixed(Result(word, Hart(target, registers, (*hart.buffer, (location, value)))))
            case Load(register, cell):
                location = self._places[cell.name]
                own = next((n for n in range(len(hart.buffer) - 1, -1, -1) if hart.buffer[n][0] == location), None)

                def load(value: int) -> Result:
                    source = None if own is None else (STORE, own)
                    access = Access(CPU, 0, location, value, None, source)
                    word = (Step(number, "load", instruction, (Begun("lR", location, CPU),), (access,)),)
                    return Result(word, Hart(target, at(registers, register, value), hart.buffer))

                calm = self._sharing.calm(number, location)
                if own is None:
                    yield calm, Option((location,), load)
                else:
                    yield calm, fixed(load(hart.buffer[own][1]))
            case CompareAndSet(into, cell, expected, new):
                if hart.buffer:
                    yield False, None
                    return
                location = self._places[cell.name]
                held = evaluated(evaluator(expected), registers, instruction)
                written = evaluated(evaluator(new), registers, instruction)

                def compare(value: int) -> Result:
                    then = Hart(target, registers if into is None else at(registers, into, value))
                    if value == held:
                        begins: tuple[Begun, ...] = (Begun("CAS", location, CPU),)
                        access = Access(CPU, 0, location, value, written)
                        return Result(
                            (Step(number, "CAS", instruction, begins, (access,)),), then, ((location, written),)
                        )
                    begins = (Begun("F", None, CPU), Begun("lR", location, CPU))
                    accesses = (Access(CPU), Access(CPU, 0, location, value))
                    return Result((Step(number, "failed CAS", instruction, begins, accesses),), then)

                yield self._sharing.own(number, location), Option((location,), compare)
            case MemoryFence():
                if hart.buffer:
                    yield False, None
                else:
                    word = (Step(number, "mfence", instruction, (Begun("F", None, CPU),), (Access(CPU),)),)
                    yield True, fixed(Result(word, hart._replace(control=target)))
            case Assign(register, expression):
                value = evaluated(evaluator(expression), registers, instruction)
                word = (Step(number, "assign", instruction),)
                yield True, fixed(Result(word, Hart(target, at(registers, register, value), hart.buffer)))
            case Assume(condition):
                holds = evaluated(evaluator(condition), registers, instruction)
                word = (Step(number, "assume", instruction),)
                yield True, fixed(Result(word, hart._replace(control=target))) if holds else None
            case _:
                raise AssertionError("TSO refuses it")


def _refusals(instruction: Instruction) -> Iterator[Refusal]:
    match instruction:
        case Load(_, cell) | Store(cell) | CompareAndSet(_, cell):
            if not cell.atomic:
                yield Refusal("TSO has no non-atomic accesses", instruction.span)
        case Assign() | Assume() | MemoryFence():
            pass
        case Get() | Put() | GetAccumulate() | RemoteCompareAndSet() | Flush() | Poll() | RemoteFence():
            kind = NETWORK[type(instruction)]
            yield Refusal(f"TSO is about the CPUs of one node and has no {kind}", instruction.span)
        case _:
            assert_never(instruction)


__all__ = ["Tso"]
