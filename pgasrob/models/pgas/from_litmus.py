"""Translates litmus programs to programs of the calculus: a node becomes a rank, which has a queue for each peer.

A get is a `read`, a put a `write`, rcas and rfaa are deferred atomics, rga and cas such with operands in memory,
flush(n) is a `wait` for the queue to n, CAS of the CPU a blocking `compare_swap` on the rank's own memory. There are no
store buffers, so mfence does nothing. What has no counterpart is refused.

A poll waits until the oldest operation to n that has not been polled is complete for its thread: a get has arrived, the
source of a put has been read. `wait_local` waits for just that of all operations in a queue, so it is the same where
all but one have been polled before (what has been polled is complete for the thread already), and of polls in a row
that take all that is pending it is the last of them; when the others took place makes no difference. Any other poll is
refused. A poll that nothing is pending for waits for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pgasrob.models.forms import Forms
from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.instructions import Cell, Instruction
from pgasrob.models.litmus.litmus_program import Location, Program, Thread
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.declarations import MemoryObject, Process, Queue, Source
from pgasrob.program.expressions import Const, Expr, Register, Symbol, rewritten
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program as PgasProgram
from pgasrob.program.reading import LITERAL_READING, Reading
from pgasrob.program.statements import NOWHERE, Block, Do, FlowGraph, Piece, Span
from pgasrob.stop_points import stop_point

NOTHING = commands.Assume(Const(1))
NEVER = commands.Assume(Const(0))
"""A command that does nothing, and one that is never enabled."""
FENCE = commands.Mark(Const(1), commands.FULL_FENCE)
"""It does nothing in a run either; the analysis of the hardware (store buffers) looks at it."""

Pending = tuple[tuple[int, int], ...]
"""How many operations to a node have not been polled, for the nodes that have some."""
At = tuple[int, Pending]
"""A control state of a thread, and which operations have not been polled there."""


@dataclass(frozen=True)
class Translation:
    """``program`` does what ``litmus`` does: ``ranks`` has the rank of each node, ``cells`` the flat number of each
    location, ``registers`` those of each thread. ``instructions``: for each rank, the instruction at each occurrence of
    its control automaton (None: its end); ``spans`` has their places in the text."""

    litmus: Program
    program: PgasProgram
    ranks: dict[int, int]
    registers: tuple[tuple[int, ...], ...]
    instructions: tuple[tuple[Instruction | None, ...], ...]

    @cached_property
    def cells(self) -> dict[str, int]:
        size = len(self.litmus.locations)
        return {
            location.name: self.ranks[location.node] * size + number
            for number, location in enumerate(self.litmus.locations)
        }

    @cached_property
    def spans(self) -> tuple[tuple[Span, ...], ...]:
        return tuple(tuple(each.span if each else NOWHERE for each in mine) for mine in self.instructions)

    def instance(self, reading: Reading = LITERAL_READING) -> Instance:
        """On as many nodes as there are; every command is an event unless ``reading`` says otherwise."""
        return self.program.instantiate(len(self.ranks), reading)


def translate(program: Program, *, unordered: bool = False, source: Source | None = None) -> Translation:
    """The program of the calculus; ``unordered`` says what the queues are. Raises :class:`Refused`."""
    if refused := refusals(program):
        raise Refused(refused)
    nodes = {location.node for location in program.locations} | {thread.node for thread in program.threads}
    nodes |= {
        instruction.node
        for instruction in _instructions(program)
        if isinstance(instruction, litmus.Flush | litmus.Poll)
    }
    ranks = {node: rank for rank, node in enumerate(sorted(nodes))}
    names = [(number, name) for number, thread in enumerate(program.threads) for name in thread.registers]
    hidden = any(isinstance(each, litmus.CompareAndSet) and each.register is None for each in _instructions(program))
    registers = [
        tuple(place for place, (owner, _) in enumerate(names) if owner == number)
        for number in range(len(program.threads))
    ]
    processes: list[Process] = []
    instructions: list[tuple[Instruction | None, ...]] = []
    by_node = {thread.node: number for number, thread in enumerate(program.threads)}
    for node, rank in ranks.items():
        number = by_node.get(node)
        if number is None:
            processes.append(Process((rank,), Block(())))
            instructions.append(())
            continue
        mine = registers[number]
        thread = program.threads[number]
        written = _Commands(program, thread, ranks, mine[0] if mine else 0, len(names), {})
        graph, issued = _graph(program, thread, written)
        processes.append(Process((rank,), graph))
        instructions.append(issued)
    return Translation(
        program,
        PgasProgram(
            "litmus",
            len(ranks),
            tuple(
                MemoryObject(_cell_name(location), address, None, (location.initial,))
                for address, location in enumerate(program.locations)
            ),
            (*(_name(name) for _, name in names), *("_old",) * hidden),
            tuple(Queue(f"to_{node}", rank, unordered) for node, rank in ranks.items()),
            tuple(processes),
            replace(source or Source("<litmus>", ""), shows_commands=False),
        ),
        ranks,
        tuple(registers),
        tuple(instructions),
    )


def _name(register: str) -> str:
    """The name of a register in the calculus, which has no `$`."""
    return register.replace("$", "_")


def _cell_name(location: Location) -> str:
    """The name of a cell. A location that is not shown holds a constant."""
    return location.name if location.shown else f"const_{location.initial}".replace("-", "minus_")


def _instructions(program: Program) -> Iterator[Instruction]:
    return (each for thread in program.threads for each in thread.graph.instructions)


# What is refused -----------------------------------------------------------------------------------------------------


FORMS = Forms(
    {litmus.RemoteFence: "the calculus has no {word}({node}): its fences do not order gets"},
    non_atomic="the calculus has no undefined value, so it does not know the non-atomic access {name}.n",
    threads="the calculus has one thread a node, and there are several on node {node}",
    loops="outcomes in the calculus are those of programs without unbounded loops",
)
NOT_BESIDE_POLLS: dict[type[Instruction], str] = {
    litmus.Flush: "no model has both flush({node}) and poll, so what they do together is not known",
    litmus.GetAccumulate: "no model has both remote atomics and poll, so what they do together is not known",
    litmus.RemoteCompareAndSet: "no model has both remote atomics and poll, so what they do together is not known",
}
"""Instructions that a thread with polls must not have."""


def refusals(program: Program) -> tuple[Refusal, ...]:
    """A refusal for each instruction and form that has no counterpart in the calculus."""
    return tuple(dict.fromkeys(_refusals(program)))


def _refusals(program: Program) -> Iterator[Refusal]:
    for number, thread in enumerate(program.threads):
        yield from FORMS.of_thread(program, number)
        if thread.graph.bounded:
            polls = _polls(thread)
            for instruction in thread.graph.instructions:
                yield from FORMS.of_instruction(program, thread, instruction)
                if polls and (clause := NOT_BESIDE_POLLS.get(type(instruction))) is not None:
                    node = litmus.node_of(instruction, program.owners)
                    yield Refusal(clause.format(node=node), instruction.span)
            if polls:
                yield from _bad_polls(program, thread)


def _polls(thread: Thread) -> bool:
    return any(isinstance(each, litmus.Poll) for each in thread.graph.instructions)


def _bad_polls(program: Program, thread: Thread) -> Iterator[Refusal]:
    """Refusals of polls that wait for some of the pending operations only, unless polls for the others follow at
    once."""
    for state, pending in _reached(program, thread):
        for instruction, target in thread.graph.out[state]:
            if isinstance(instruction, litmus.Poll) and dict(pending).get(instruction.node, 0) > 1:
                node = instruction.node
                alike = all(isinstance(each, litmus.Poll) and each.node == node for each, _ in thread.graph.out[target])
                if target in thread.graph.ends or not alike:
                    yield Refusal(
                        f"the calculus waits for all operations to node {node} or none: this poll({node}) is of the "
                        "oldest while others are pending",
                        instruction.span,
                    )


def _reached(program: Program, thread: Thread) -> dict[At, None]:
    """The control states that can be reached, each with the unpolled operations there, in the order of the search."""
    start: At = (0, ())
    found: dict[At, None] = {start: None}
    polls, stack = _polls(thread), [start]
    while stack:
        stop_point()
        state, pending = stack.pop()
        for instruction, target in reversed(thread.graph.out[state]):
            at = target, _after(program, instruction, pending) if polls else ()
            if at not in found:
                found[at] = None
                stack.append(at)
    return found


def _after(program: Program, instruction: Instruction, pending: Pending) -> Pending:
    """The unpolled operations after ``instruction``."""
    counts = dict(pending)
    match instruction:
        case litmus.Poll(node):
            counts[node] = max(counts.get(node, 0) - 1, 0)
        case litmus.Get() | litmus.Put() | litmus.NicCompareAndSet() | litmus.NicFetchAdd():
            node = program.node_of(instruction.remote)
            counts[node] = counts.get(node, 0) + 1
    return tuple(sorted((node, count) for node, count in counts.items() if count))


# What is translated --------------------------------------------------------------------------------------------------


def _graph(program: Program, thread: Thread, written: _Commands) -> tuple[FlowGraph, tuple[Instruction | None, ...]]:
    """The thread as a graph of pieces, and the instruction of each of their commands, in the order of the pieces; None
    for a command that only ends the thread."""
    polls = _polls(thread)
    labels = {at: f"s{number}" for number, at in enumerate(_reached(program, thread))}
    pieces: list[Piece] = []
    instructions: list[Instruction | None] = []
    for at, label in labels.items():
        state, pending = at
        ends, here = state in thread.graph.ends, replace(written, pending=dict(pending))
        edges = []
        for number, (instruction, target) in enumerate(thread.graph.out[state]):
            after = _after(program, instruction, pending) if polls else ()
            statement = Do(here.visit(instruction), instruction.span)
            edges.append(Piece(f"{label}_{number}", (statement,), (labels[target, after],), None, instruction.span))
            instructions.append(instruction)
        if edges and ends:
            # In the calculus a rank that can move does so: to end here it needs an edge (proofs/models.md, "Ends").
            edges.append(Piece(f"{label}_end", (Do(NOTHING),), (), None, NOWHERE))
            instructions.append(None)
        if not edges and not ends:
            edges.append(Piece(f"{label}_never", (Do(NEVER),), (), None, NOWHERE))
            instructions.append(None)
        pieces += [Piece(label, (), tuple(edge.label for edge in edges), None, NOWHERE), *edges]
    return FlowGraph(tuple(pieces)), tuple(instructions)


@dataclass(frozen=True, slots=True)
class _Commands(litmus.Visitor[Command]):
    """Makes commands of ``thread``, whose registers begin at ``first``; ``pending``: how many operations to each node
    are unpolled. ``hidden`` is a register for values that are not used."""

    program: Program
    thread: Thread
    ranks: dict[int, int]
    first: int
    hidden: int
    pending: dict[int, int]

    def load(self, instruction: litmus.Load) -> Command:
        return commands.Load(self._register(instruction.register), self._address(instruction.cell))

    def store(self, instruction: litmus.Store) -> Command:
        return commands.Store(self._address(instruction.cell), self._expression(instruction.value))

    def assign(self, instruction: litmus.Assign) -> Command:
        return commands.Assign(self._register(instruction.register), self._expression(instruction.value))

    def assume(self, instruction: litmus.Assume) -> Command:
        return commands.Assume(self._expression(instruction.condition))

    def memory_fence(self, instruction: litmus.MemoryFence) -> Command:
        return FENCE

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Command:
        return commands.CompareSwap(
            self._register(instruction.register),
            Const(self.ranks[self.thread.node]),
            self._address(instruction.cell),
            self._expression(instruction.expected),
            self._expression(instruction.new),
            atomic=f"{commands.OF_THE_CPU} int",  # which an adapter does not exclude from its own
        )

    def get(self, instruction: litmus.Get) -> Command:
        peer = self._rank(instruction.remote)
        return commands.Read(self._address(instruction.local), peer, self._address(instruction.remote), peer)

    def put(self, instruction: litmus.Put) -> Command:
        peer = self._rank(instruction.remote)
        return commands.Write(self._address(instruction.local), peer, self._address(instruction.remote), peer)

    def get_accumulate(self, instruction: litmus.GetAccumulate) -> Command:
        return self._atomic("add", instruction, instruction.operand)

    def remote_compare_and_set(self, instruction: litmus.RemoteCompareAndSet) -> Command:
        return self._atomic("compare_swap", instruction, instruction.new, self._address(instruction.expected))

    def _atomic(
        self,
        operation: str,
        instruction: litmus.GetAccumulate | litmus.RemoteCompareAndSet,
        operand: Cell,
        expected: Expr | None = None,
    ) -> Command:
        peer, remote, local = self._rank(instruction.remote), self._address(instruction.remote), instruction.local
        return commands.UpdateFrom(
            operation, self._address(operand), peer, remote, peer, self._address(local), expected
        )

    def nic_compare_and_set(self, instruction: litmus.NicCompareAndSet) -> Command:
        return self._update("compare_swap", instruction, instruction.new, self._expression(instruction.expected))

    def nic_fetch_add(self, instruction: litmus.NicFetchAdd) -> Command:
        return self._update("add", instruction, instruction.operand)

    def _update(
        self, operation: str, instruction: litmus.NicAtomic, operand: Expr, expected: Expr | None = None
    ) -> Command:
        peer, remote, local = self._rank(instruction.remote), self._address(instruction.remote), instruction.local
        return commands.Update(operation, self._expression(operand), peer, remote, peer, self._address(local), expected)

    def flush(self, instruction: litmus.Flush) -> Command:
        return commands.Wait(Const(self.ranks[instruction.node]))

    def poll(self, instruction: litmus.Poll) -> Command:
        count = self.pending.get(instruction.node, 0)
        # Of polls in a row the last one waits.
        return (
            NEVER if not count else commands.WaitLocal(Const(self.ranks[instruction.node])) if count == 1 else NOTHING
        )

    remote_fence = litmus.refused

    def _register(self, number: int | None) -> Register:
        if number is None:
            return Register("_old", self.hidden)
        return Register(_name(self.thread.registers[number]), self.first + number)

    def _address(self, cell: Cell) -> Expr:
        place = self.program.places[cell.name]
        return Symbol(_cell_name(self.program.locations[place]), place)

    def _rank(self, cell: Cell) -> Expr:
        return Const(self.ranks[self.program.node_of(cell)])

    def _expression(self, expr: Expr) -> Expr:
        def moved(part: Expr) -> Expr | None:
            return Register(part.name, self.first + part.index) if isinstance(part, Register) else None

        return rewritten(expr, moved)
