"""The actions of each statement of a coreRMA program (section 4, Table 3), and how their values are computed.

An action reads or writes one location, or is a flush. The CPU does local actions at once; the adapter does external
ones later. An action before all others writes the initial value of each location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from pgasrob.models.forms import Forms
from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import UNDEFINED, Program, Value
from pgasrob.program.bits import members
from pgasrob.program.expressions import INT32, Expr, Fault, evaluator, faults_inside, registers_of
from pgasrob.program.statements import NOWHERE, Span

Kind = Literal["init", "r", "w", "er", "ew", "erw", "flush"]
"""``r`` and ``w``: local read and write; ``er``, ``ew``, ``erw``: external read, write, read-write. ``init``: the
initial value of a location."""
StatementKind = Literal["init", "local", "get", "put", "rga", "cas", "flush"]


@dataclass(frozen=True, slots=True)
class Action:
    """``thread``, ``statement``: where it belongs, the first instruction of its command counted from 0; None, -1 for
    initial values. ``src``: the node that it is for; ``dst``: the node whose memory it is about, or which a flush waits
    for. ``rloc``, ``wloc``: the numbers of the locations that it reads and writes."""

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


@dataclass(frozen=True, slots=True)
class Statement:
    """``actions``: their numbers in program order. ``remote``: the one in the paper's set Remote, which is the action
    at the target."""

    kind: StatementKind
    actions: tuple[int, ...]
    remote: int | None = None


Compute = Callable[[Sequence[Value]], Value]


@dataclass(frozen=True, slots=True)
class Step:
    """The value of the slot ``target`` is ``compute`` of the values of ``sources``."""

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
    reads_by_slot: dict[int, int] = field(default_factory=dict)

    # Used by the rules over and over, and filled in by :func:`actions_of`.
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

    def reads_for(self, slot: int) -> int:
        """The reads that the value of ``slot`` is computed from within its process, as bits."""
        found = self.reads_by_slot.get(slot)
        if found is None:
            found = 1 << slot if slot < len(self.actions) else 0
            for source in self.step_to[slot].sources if slot in self.step_to else ():
                found |= self.reads_for(source)
            self.reads_by_slot[slot] = found
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


NO_FLUSH = "coreRMA has no {word}: flush({node}) waits for all operations to node {node}"
OWN_OPERANDS = "coreRMA has no {word}: its remote atomics, rga and cas, read their operands from memory"
FORMS = Forms(
    {
        litmus.Poll: NO_FLUSH,
        litmus.RemoteFence: NO_FLUSH,
        litmus.MemoryFence: "coreRMA has no mfence: what a CPU does is in program order",
        litmus.CompareAndSet: "coreRMA has no CAS of the CPU: cas is an operation of the adapter",
        litmus.NicCompareAndSet: OWN_OPERANDS,
        litmus.NicFetchAdd: OWN_OPERANDS,
        litmus.Assume: "coreRMA has no control flow, so no assume",
    },
    threads="coreRMA has one thread on a node, and there are two or more on node {node}",
    branches="coreRMA has no control flow: neither choose nor loop",
)
"""The forms that coreRMA does not know."""


def actions_of(program: Program) -> Actions:
    """The actions of a program that :data:`FORMS` does not refuse."""
    found = Actions(program)
    for number, location in enumerate(program.locations):
        found.actions.append(Action(number, "init", None, -1, location.node, location.node, wloc=number))
        found.statements.append(Statement("init", (number,)))
        found.statement_of.append(number)
    paths = [tuple(edges[0][0] for edges in thread.graph.out if edges) for thread in program.threads]
    for number, path in enumerate(paths):
        own: list[int] = []
        for place, instruction in enumerate(path):
            own += _translate(found, number, place, instruction)
        found.threads.append(own)
    found.slots = 2 * len(found.actions)
    _index(found)
    for number, path in enumerate(paths):
        found.registers.append(_Values(found, number).of(path))
    found.step_to = {step.target: step for step in found.steps}
    return found


STATEMENTS: dict[type[litmus.Instruction], StatementKind] = {
    litmus.Get: "get",
    litmus.Put: "put",
    litmus.GetAccumulate: "rga",
    litmus.RemoteCompareAndSet: "cas",
    litmus.Flush: "flush",
}
"""The kind of statement that an instruction is; all others are local."""
KINDS: dict[tuple[bool, bool, bool], Kind] = {
    (True, True, False): "r",
    (True, False, True): "w",
    (False, True, False): "er",
    (False, False, True): "ew",
    (False, True, True): "erw",
}
"""The kind of an action, by whether the CPU does it, it reads, it writes."""


def _translate(found: Actions, thread: int, place: int, instruction: litmus.Instruction) -> tuple[int, ...]:
    """Table 3: an action for each access, and one for a flush."""
    program = found.program
    here, first, remote = program.threads[thread].node, len(found.actions), None
    command = place - instruction.part.place
    for stage, cell, reads, writes in litmus.accesses(instruction):
        number, location = len(found.actions), program.place(cell)
        if stage in ("place", "fetch"):
            remote = number
        kind, node = KINDS[stage == "cpu", reads, writes], program.node_of(cell)
        of_read, of_write = location if reads else None, location if writes else None
        found.actions.append(
            Action(number, kind, thread, command, here, node, of_read, of_write, cell.atomic, instruction.span)
        )
    if isinstance(instruction, litmus.Flush):
        found.actions.append(Action(first, "flush", thread, command, here, instruction.node, span=instruction.span))
    numbers = tuple(range(first, len(found.actions)))
    if numbers:
        found.statement_of += [len(found.statements)] * len(numbers)
        found.statements.append(Statement(STATEMENTS.get(type(instruction), "local"), numbers, remote))
    return numbers


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


class _Values(litmus.Visitor[None]):
    """The steps of a thread's values (PG, GA, CAS-F and CAS-T, Figure 4), one instruction after the other."""

    def __init__(self, found: Actions, thread: int) -> None:
        self._found, self._size = found, len(found.actions)
        zero, found.slots = found.slots, found.slots + 1
        found.constants[zero] = 0
        self._registers = [zero] * len(found.program.threads[thread].registers)
        self._own = iter(found.threads[thread])

    def of(self, path: Iterable[litmus.Instruction]) -> tuple[int, ...]:
        """The slots of the thread's registers at the end of ``path``."""
        for instruction in path:
            self.visit(instruction)
        return tuple(self._registers)

    def _step(self, target: int, sources: tuple[int, ...], compute: Compute, span: Span, fault: bool = False) -> None:
        self._found.steps.append(Step(target, sources, compute, span, fault))

    def _computed(self, target: int, value: Expr, span: Span) -> None:
        sources, compute = _computed(value, self._registers)
        self._step(target, sources, compute, span, faults_inside(value))

    def load(self, instruction: litmus.Load) -> None:
        self._registers[instruction.register] = next(self._own)

    def store(self, instruction: litmus.Store) -> None:
        self._computed(self._size + next(self._own), instruction.value, instruction.span)

    def assign(self, instruction: litmus.Assign) -> None:
        slot, self._found.slots = self._found.slots, self._found.slots + 1
        self._computed(slot, instruction.value, instruction.span)
        self._registers[instruction.register] = slot

    def _copied(self, instruction: litmus.Get | litmus.Put) -> None:
        read, write = next(self._own), next(self._own)
        self._step(self._size + write, (read,), _same, instruction.span)

    get = put = _copied

    def get_accumulate(self, instruction: litmus.GetAccumulate) -> None:
        read, update, write = next(self._own), next(self._own), next(self._own)
        self._step(self._size + update, (read, update), _sum, instruction.span)
        self._step(self._size + write, (update,), _same, instruction.span)

    def remote_compare_and_set(self, instruction: litmus.RemoteCompareAndSet) -> None:
        expected, new, update, write = next(self._own), next(self._own), next(self._own), next(self._own)
        self._step(self._size + update, (expected, new, update), _exchanged, instruction.span)
        self._step(self._size + write, (update,), _same, instruction.span)

    def flush(self, instruction: litmus.Flush) -> None:
        next(self._own)

    nic_compare_and_set = nic_fetch_add = litmus.refused
    assume = memory_fence = compare_and_set = poll = remote_fence = litmus.refused


def _same(values: Sequence[Value]) -> Value:
    return values[0]


def _sum(values: Sequence[Value]) -> Value:
    first, second = values
    return UNDEFINED if first == UNDEFINED or second == UNDEFINED else INT32.wrap(first + second)


def _exchanged(values: Sequence[Value]) -> Value:
    """The value that a cas writes to the remote location; T where it compares T."""
    expected, new, held = values
    if expected == UNDEFINED or held == UNDEFINED:
        return UNDEFINED
    return new if expected == held else held


def _computed(value: Expr, registers: Sequence[int]) -> tuple[tuple[int, ...], Compute]:
    """The slots that ``value`` is computed from, and how. An expression that mentions T is T."""
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
