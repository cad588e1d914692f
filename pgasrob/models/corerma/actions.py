"""What an execution is made of: the actions of each statement (section 4, Table 3), and what their values come from.

An action reads or writes one location, or is a flush. Local actions are what the CPU does, external ones what the
adapter does, later. The initial value of each location is an action, too, before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, assert_never

from pgasrob.analysis.bits import members
from pgasrob.models.litmus.program import (
    UNDEFINED,
    Assign,
    Assume,
    Cell,
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
    Thread,
    Value,
)
from pgasrob.models.model import Refusal
from pgasrob.program.expressions import INT32, Expr, Fault, evaluator, faults_inside, registers_of
from pgasrob.program.statements import NOWHERE, Span

Kind = Literal["init", "r", "w", "er", "ew", "erw", "flush"]
"""``r`` and ``w``: local read and write; ``er``, ``ew``, ``erw``: external read, write, read-write. ``init``: the
initial value of a location."""
StatementKind = Literal["init", "local", "get", "put", "rga", "cas", "flush"]


@dataclass(frozen=True, slots=True)
class Action:
    """``thread``, ``statement``: where it belongs, the instruction of the thread counted from 0; None, -1 for initial
    values. ``src``: the node that it is for; ``dst``: the node whose memory it is about, or which a flush waits for.
    ``rloc``, ``wloc``: the numbers of the locations that it reads and writes."""

    number: int
    kind: Kind
    thread: int | None
    statement: int
    src: int
    dst: int
    rloc: int | None = None
    wloc: int | None = None
    atomic: bool = True
    span: Span = NOWHERE

    @property
    def type(self) -> str:
        """Its type, ``er`` or ``er.n`` for a non-atomic one."""
        return self.kind if self.atomic else f"{self.kind}.n"

    @property
    def location(self) -> int | None:
        return self.wloc if self.rloc is None else self.rloc

    @property
    def local(self) -> bool:
        return self.kind in ("r", "w")

    @property
    def external(self) -> bool:
        return self.kind in ("er", "ew", "erw")


@dataclass(frozen=True, slots=True)
class Statement:
    """The numbers of its actions in program order; ``remote``: that of its action in the paper's set Remote, the one at
    the target."""

    kind: StatementKind
    actions: tuple[int, ...]
    remote: int | None = None


Compute = Callable[[Sequence[Value]], Value]


@dataclass(frozen=True, slots=True)
class Step:
    """The slot ``target`` has what ``compute`` makes of those of ``sources``."""

    target: int
    sources: tuple[int, ...]
    compute: Compute
    span: Span = NOWHERE
    may_fault: bool = False


@dataclass(slots=True)
class Actions:
    """A program as actions.

    Values live in slots: the value that action ``a`` reads in slot ``a``, the value that it writes in slot
    ``len(actions) + a``, further ones for registers. ``steps`` says how they follow from each other, once it is known
    which write each action reads from. ``registers``: the slots of each thread's registers at its end.
    """

    program: Program
    actions: list[Action] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    statement_of: list[int] = field(default_factory=list)
    """The number of its statement in ``statements`` for each action."""
    threads: list[list[int]] = field(default_factory=list)
    """The actions of each thread in program order."""
    steps: list[Step] = field(default_factory=list)
    registers: list[tuple[int, ...]] = field(default_factory=list)
    constants: dict[int, int] = field(default_factory=dict)
    """Slots that hold a number from the start."""
    slots: int = 0
    step_to: dict[int, Step] = field(default_factory=dict)
    """The step that computes each slot, where there is one."""
    reads_behind: dict[int, int] = field(default_factory=dict)

    # What the rules ask for again and again, filled in by :func:`actions_of`.
    readers: list[int] = field(default_factory=list)
    writers: list[int] = field(default_factory=list)
    writers_of: list[int] = field(default_factory=list)
    """The writers of each location, as bits."""
    readers_of: list[int] = field(default_factory=list)
    atomic: int = 0
    """The atomic actions, as bits."""
    everything: int = 0
    initial: int = 0

    @property
    def is_atomic(self) -> bool:
        """Whether every access is."""
        return self.atomic == self.everything

    def behind(self, slot: int) -> int:
        """The reads in a process that the value of ``slot`` comes from, as bits."""
        found = self.reads_behind.get(slot)
        if found is None:
            found = 1 << slot if slot < len(self.actions) else 0
            for source in self.step_to[slot].sources if slot in self.step_to else ():
                found |= self.behind(source)
            self.reads_behind[slot] = found
        return found

    def known(self) -> dict[int, Value]:
        """The slots whose values do not depend on what is read."""
        found: dict[int, Value] = dict(self.constants)
        for step in self.steps:  # a register's comes before what is computed from it
            if all(source in found for source in step.sources):
                with suppress(Fault):
                    found[step.target] = step.compute([found[source] for source in step.sources])
        return found

    def conflicting(self) -> Iterator[tuple[int, int]]:
        """Pairs of actions on one location, one of which writes and one of which is not atomic (section 5.2), whether
        in parallel or not."""
        for writers, readers in zip(self.writers_of, self.readers_of, strict=True):
            accesses = list(members(writers | readers))
            for place, first in enumerate(accesses):
                for second in accesses[place + 1 :]:
                    pair = 1 << first | 1 << second
                    if pair & writers and pair & ~self.atomic:
                        yield first, second


def refusals(program: Program) -> tuple[Refusal, ...]:
    """What coreRMA does not know of ``program``."""
    found = []
    nodes: dict[int, int] = {}
    for number, thread in enumerate(program.threads):
        if thread.node in nodes:
            found.append(Refusal(f"coreRMA has one thread on a node, and there are two or more on node {thread.node}"))
        nodes[thread.node] = number
        if not thread.graph.straight:
            found.append(Refusal("coreRMA has no control flow: neither choose nor loop"))
        for edges in thread.graph.out:
            for instruction, _ in edges:
                match instruction:
                    case Poll(node, span):
                        reason = f"coreRMA has no poll: flush({node}) waits for all operations to node {node}"
                    case RemoteFence(node, span):
                        reason = f"coreRMA has no rfence: flush({node}) waits for all operations to node {node}"
                    case MemoryFence(span):
                        reason = "coreRMA has no mfence: what a CPU does is in program order"
                    case CompareAndSet(_, _, _, _, span):
                        reason = "coreRMA has no CAS of the CPU: cas is an operation of the adapter"
                    case Assume(_, span):
                        reason = "coreRMA has no control flow, so no assume"
                    case _:
                        continue
                found.append(Refusal(reason, span))
    return tuple(dict.fromkeys(found))


def actions_of(program: Program) -> Actions:
    """The actions of a program that has no ``refusals``."""
    found = Actions(program)
    for number, location in enumerate(program.locations):
        found.actions.append(Action(number, "init", None, -1, location.node, location.node, wloc=number))
        found.statements.append(Statement("init", (number,)))
        found.statement_of.append(number)
    paths = [_path(thread) for thread in program.threads]
    for number, path in enumerate(paths):
        own: list[int] = []
        for place, instruction in enumerate(path):
            own += _translate(found, number, place, instruction)
        found.threads.append(own)
    found.slots = 2 * len(found.actions)
    _index(found)
    for number, path in enumerate(paths):
        found.registers.append(_values(found, number, path))
    found.step_to = {step.target: step for step in found.steps}
    return found


def _path(thread: Thread) -> tuple[Instruction, ...]:
    return tuple(edges[0][0] for edges in thread.graph.out if edges)


def _translate(found: Actions, thread: int, place: int, instruction: Instruction) -> tuple[int, ...]:
    """Table 3."""
    program = found.program
    here, span = program.threads[thread].node, instruction.span
    numbers: list[int] = []

    def action(kind: Kind, cell: Cell, *, reads: bool = False, writes: bool = False) -> None:
        location = program.places[cell.name]
        numbers.append(len(found.actions))
        found.actions.append(
            Action(
                numbers[-1],
                kind,
                thread,
                place,
                here,
                program.locations[location].node,
                location if reads else None,
                location if writes else None,
                cell.atomic,
                span,
            )
        )

    kind: StatementKind = "local"
    remote = None
    match instruction:
        case Load(_, cell):
            action("r", cell, reads=True)
        case Store(cell):
            action("w", cell, writes=True)
        case Get(local, target):
            kind, remote = "get", 0
            action("er", target, reads=True)
            action("ew", local, writes=True)
        case Put(target, local):
            kind, remote = "put", 1
            action("er", local, reads=True)
            action("ew", target, writes=True)
        case GetAccumulate(local, target, operand):
            kind, remote = "rga", 1
            action("er", operand, reads=True)
            action("erw", target, reads=True, writes=True)
            action("ew", local, writes=True)
        case RemoteCompareAndSet(local, target, expected, new):
            kind, remote = "cas", 2
            action("er", expected, reads=True)
            action("er", new, reads=True)
            action("erw", target, reads=True, writes=True)
            action("ew", local, writes=True)
        case Flush(node):
            kind = "flush"
            numbers.append(len(found.actions))
            found.actions.append(Action(numbers[-1], "flush", thread, place, here, node, span=span))
        case Assign():
            return ()
        case Assume() | MemoryFence() | CompareAndSet() | Poll() | RemoteFence():
            raise AssertionError("refused before")
        case _:
            assert_never(instruction)
    found.statement_of += [len(found.statements)] * len(numbers)
    found.statements.append(Statement(kind, tuple(numbers), None if remote is None else numbers[remote]))
    return tuple(numbers)


def _index(found: Actions) -> None:
    count = len(found.program.locations)
    found.writers_of, found.readers_of = [0] * count, [0] * count
    for action in found.actions:
        if action.rloc is not None:
            found.readers.append(action.number)
            found.readers_of[action.rloc] |= 1 << action.number
        if action.wloc is not None:
            found.writers.append(action.number)
            found.writers_of[action.wloc] |= 1 << action.number
        if action.atomic:
            found.atomic |= 1 << action.number
    found.initial = (1 << count) - 1
    found.constants = {len(found.actions) + n: location.initial for n, location in enumerate(found.program.locations)}
    found.everything = (1 << len(found.actions)) - 1


def _values(found: Actions, thread: int, path: tuple[Instruction, ...]) -> tuple[int, ...]:
    """The steps of a thread's values (PG, GA, CAS-F and CAS-T, Figure 4); the slots of its registers at the end."""
    size = len(found.actions)
    zero, found.slots = found.slots, found.slots + 1
    found.constants[zero] = 0
    registers = [zero] * len(found.program.threads[thread].registers)
    own = iter(found.threads[thread])

    def step(target: int, sources: tuple[int, ...], compute: Compute, span: Span, expr: Expr | None = None) -> None:
        found.steps.append(Step(target, sources, compute, span, expr is not None and faults_inside(expr)))

    for instruction in path:
        span = instruction.span
        match instruction:
            case Load(register):
                registers[register] = next(own)
            case Store(_, value):
                step(size + next(own), *_computed(value, registers), span, value)
            case Assign(register, value):
                sources, compute = _computed(value, registers)
                registers[register], found.slots = found.slots, found.slots + 1
                step(registers[register], sources, compute, span, value)
            case Get() | Put():
                read, write = next(own), next(own)
                step(size + write, (read,), _same, span)
            case GetAccumulate():
                read, update, write = next(own), next(own), next(own)
                step(size + update, (read, update), _sum, span)
                step(size + write, (update,), _same, span)
            case RemoteCompareAndSet():
                expected, new, update, write = next(own), next(own), next(own), next(own)
                step(size + update, (expected, new, update), _exchanged, span)
                step(size + write, (update,), _same, span)
            case Flush():
                next(own)
            case _:
                raise AssertionError("refused before")
    return tuple(registers)


def _same(values: Sequence[Value]) -> Value:
    return values[0]


def _sum(values: Sequence[Value]) -> Value:
    first, second = values
    return UNDEFINED if first == UNDEFINED or second == UNDEFINED else INT32.wrap(first + second)


def _exchanged(values: Sequence[Value]) -> Value:
    """What a cas leaves: a comparison with T leaves T."""
    expected, new, held = values
    if expected == UNDEFINED or held == UNDEFINED:
        return UNDEFINED
    return new if expected == held else held


def _computed(value: Expr, registers: Sequence[int]) -> tuple[tuple[int, ...], Compute]:
    """The slots that ``value`` is computed from, and how. T spreads: what mentions it is T."""
    mentioned = sorted(registers_of(value))
    compute = evaluator(value)
    size = mentioned[-1] + 1 if mentioned else 0

    def computed(values: Sequence[Value]) -> Value:
        file = [0] * size
        for register, held in zip(mentioned, values, strict=True):
            if held == UNDEFINED:
                return UNDEFINED
            file[register] = held
        return compute(file)

    return tuple(registers[register] for register in mentioned), computed
