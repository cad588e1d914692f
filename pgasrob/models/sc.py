"""Sequential consistency: one memory, instructions one after the other, each at once.

``merged``: a put, a get or a remote atomic is one step, as an operation is one node of happens-before in the theory of
robustness. ``split``: it reads and writes in steps of their own, one after the other, and others may come between. A
poll waits for an operation of its thread that has not been polled; flushes and fences have nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, assert_never

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
    Remote,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
)
from pgasrob.models.model import Outcomes, Refusal
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
from pgasrob.program.expressions import INT32, evaluator
from pgasrob.robustness.watch import Watch

Semantics = Literal["merged", "split"]
CPU: Queue = ("cpu", -1)


class Part(NamedTuple):
    """An access of an instruction. ``written``: what it writes, from what the instruction has read so far, this access
    included; None for nothing."""

    kind: str
    queue: Queue
    location: int
    reads: bool
    written: Callable[[Sequence[int]], int | None] | None = None


class Sc:
    """The model. It takes every instruction."""

    name = "sc"

    def __init__(self, semantics: Semantics = "merged") -> None:
        self.semantics: Semantics = semantics

    @property
    def variant(self) -> str:
        """Unlike the semantics of other models the two differ in their outcomes."""
        return "split" if self.semantics == "split" else ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return ()

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises Refused when an expression has no value in some run."""
        return outcomes(self.machine(program), watch)

    def machine(self, program: Program, reduced: bool = True) -> Machine[Local]:
        def accessed(number: int, instruction: Instruction) -> Iterator[Accessed]:
            for part in _parts(program, instruction, None):
                yield number, part.location, part.reads, part.written is not None

        sharing = Sharing(program, accessed)
        split = self.semantics == "split"
        threads = [_Thread(program, number, sharing, split, reduced) for number in range(len(program.threads))]
        return Machine(program, threads, sharing.constant if reduced else frozenset())


class Local(NamedTuple):
    """A state of a thread: control state (-1: it has chosen to end), registers, how many operations to each node have
    not been polled. ``halfway``: of an instruction that has been begun its place among those that leave the control
    state, and what it has read."""

    control: int
    registers: tuple[int, ...]
    unpolled: tuple[int, ...]
    halfway: tuple[int, tuple[int, ...]] | None = None


class _Thread:
    def __init__(self, program: Program, number: int, sharing: Sharing, split: bool, reduced: bool) -> None:
        thread = program.threads[number]
        self._program, self._number, self._graph = program, number, thread.graph
        self._sharing, self._split, self._reduced = sharing, split, reduced
        instructions = thread.graph.instructions
        nodes = sorted({instruction.node for instruction in instructions if isinstance(instruction, Poll)})
        self._polled = {node: place for place, node in enumerate(nodes)}
        self.initial = Local(0, (0,) * len(thread.registers), (0,) * len(nodes))

    def registers(self, local: Local) -> tuple[int, ...]:
        return local.registers

    def finished(self, local: Local) -> bool:
        if local.halfway is not None:
            return False
        return local.control < 0 or (local.control in self._graph.ends and not self._graph.out[local.control])

    def options(self, local: Local) -> tuple[bool, Sequence[Option]]:
        """First may come what touches no location that others have to do with."""
        if local.control < 0:
            return False, ()
        edges = self._graph.out[local.control]
        if local.halfway is not None:
            place, values = local.halfway
            first, option = self._accessed(local, place, values)
            return first and self._reduced, (option,)
        options, first = [], self._reduced and bool(edges)
        for place, (instruction, _) in enumerate(edges):
            alone, possible = self._executed(local, place, instruction)
            first &= alone
            options += possible
        if edges and local.control in self._graph.ends:
            options.append(fixed(Result((), local._replace(control=-1))))
        return first, options

    def _executed(self, local: Local, place: int, instruction: Instruction) -> tuple[bool, list[Option]]:
        number, target = self._number, self._graph.out[local.control][place][1]
        after = local._replace(control=target)
        match instruction:
            case Assign(register, expression):
                value = evaluated(evaluator(expression), local.registers, instruction)
                registers = at(local.registers, register, value)
                return True, [
                    fixed(Result((Step(number, "assign", instruction),), after._replace(registers=registers)))
                ]
            case Assume(condition):
                holds = evaluated(evaluator(condition), local.registers, instruction)
                return True, [fixed(Result((Step(number, "assume", instruction),), after))] if holds else []
            case Poll(node):
                mine = self._polled[node]
                if not local.unpolled[mine]:
                    return True, []
                queue: Queue = ("cpu", node)
                step = Step(number, "poll", instruction, (Begun("P", None, queue),), (Access(queue),))
                return True, [fixed(Result((step,), after._replace(unpolled=self._counted(local, node, -1))))]
            case MemoryFence() | RemoteFence() | Flush():
                return True, [fixed(Result((Step(number, "fence", instruction),), after))]
            case _:
                first, option = self._accessed(local, place, ())
                return first, [option]

    def _counted(self, local: Local, node: int, change: int) -> tuple[int, ...]:
        """The operations that are not polled, ``change`` more of them to ``node``."""
        mine = self._polled.get(node)
        return local.unpolled if mine is None else at(local.unpolled, mine, local.unpolled[mine] + change)

    def _accessed(self, local: Local, place: int, before: tuple[int, ...]) -> tuple[bool, Option]:
        """The accesses of an instruction that has read the values ``before``: all that there are, or the next one."""
        instruction, target = self._graph.out[local.control][place]
        parts = _parts(self._program, instruction, local.registers)
        begins = () if local.halfway else tuple(Begun(part.kind, part.location, part.queue) for part in parts)
        following = parts[len(before) :]  # only the last one of an instruction does not read
        if self._split and isinstance(instruction, Remote):
            following = following[:1]
        last = following[-1] is parts[-1]

        def then(*read: int) -> Result:
            values, accesses, writes = list(before), [], dict[int, int]()
            fresh = iter(read)
            for part in following:
                value = None
                if part.reads:
                    value = writes.get(part.location, next(fresh))
                    values.append(value)
                written = None if part.written is None else part.written(values)
                accesses.append(Access(part.queue, 0, part.location, value, written))
                if written is not None:
                    writes[part.location] = written
            step = Step(
                self._number,
                "access" if local.halfway else type(instruction).__name__,
                None if local.halfway else instruction,
                begins,
                tuple(accesses),
            )
            if not last:
                return Result((step,), local._replace(halfway=(place, tuple(values))), tuple(writes.items()))
            after = Local(target, local.registers, local.unpolled)
            if isinstance(instruction, Load | CompareAndSet) and instruction.register is not None:
                after = after._replace(registers=at(local.registers, instruction.register, values[0]))
            if isinstance(instruction, Remote):
                node = self._program.node_of(instruction.remote)
                after = after._replace(unpolled=self._counted(local, node, 1))
            return Result((step,), after, tuple(writes.items()))

        first = all(
            self._sharing.calm(self._number, part.location)
            if part.written is None
            else self._sharing.own(self._number, part.location)
            for part in following
        )
        return first, Option(tuple(part.location for part in following if part.reads), then)


def _parts(program: Program, instruction: Instruction, registers: Sequence[int] | None) -> tuple[Part, ...]:
    """The accesses of ``instruction`` in their order; without ``registers`` only where they are."""
    places = program.places

    def value(expression: Callable[[Sequence[int]], int]) -> int:
        return 0 if registers is None else evaluated(expression, registers, instruction)

    match instruction:
        case Load(_, cell):
            return (Part("lR", CPU, places[cell.name], True),)
        case Store(cell, expression):
            stored = value(evaluator(expression))
            return (Part("lW", CPU, places[cell.name], False, lambda read: stored),)
        case CompareAndSet(_, cell, expected, new):
            held, put = value(evaluator(expected)), value(evaluator(new))
            return (Part("CAS", CPU, places[cell.name], True, lambda read: put if read[0] == held else None),)
        case Put(remote, local):
            node = program.node_of(remote)
            return (
                Part("nlR", ("source", node), places[local.name], True),
                Part("nrW", ("place", node), places[remote.name], False, lambda read: read[0]),
            )
        case Get(local, remote):
            node = program.node_of(remote)
            return (
                Part("nrR", ("fetch", node), places[remote.name], True),
                Part("nlW", ("land", node), places[local.name], False, lambda read: read[0]),
            )
        case GetAccumulate(local, remote, operand):
            node = program.node_of(remote)
            return (
                Part("nlR", ("source", node), places[operand.name], True),
                Part("nrRW", ("fetch", node), places[remote.name], True, lambda read: INT32.wrap(read[0] + read[1])),
                Part("nlW", ("land", node), places[local.name], False, lambda read: read[1]),
            )
        case RemoteCompareAndSet(local, remote, operand, other):
            node = program.node_of(remote)
            return (
                Part("nlR", ("source", node), places[operand.name], True),
                Part("nlR", ("source", node), places[other.name], True),
                Part(
                    "nrRW",
                    ("fetch", node),
                    places[remote.name],
                    True,
                    lambda read: read[1] if read[2] == read[0] else None,
                ),
                Part("nlW", ("land", node), places[local.name], False, lambda read: read[2]),
            )
        case Assign() | Assume() | MemoryFence() | RemoteFence() | Flush() | Poll():
            return ()
        case _:
            assert_never(instruction)


__all__ = ["Sc"]
