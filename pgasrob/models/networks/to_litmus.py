"""Translates programs of ranks to litmus programs: rank r becomes a thread on node r, an accessed cell a location.

RDMA-TSO. read and write are get and put on the queue pair of the rank and its peer: all queues to one peer share it.
Whatever else the calculus promises about their order is lost, and the question is whether that matters. Own memory is
the CPU's. What a command reads at its issue (a captured put) is loaded, stored to a cell made for it and put from
there, and counts as one command with the put; so is the store of a value that is put. Remote additions and
compare-and-sets are those of the adapter, with operands read when they are issued; blocking ones, and blocking fetches,
are issued, polled and loaded from where they have landed, all as one command. A barrier after which no rank
does anything orders nothing; every other one is refused. A wait polls, oldest first, until the last operation of its
queue to each peer has been polled: notifications of a queue pair come in order, so no notification of that one comes
before those of the others. This is a wait_local. For a wait, operations that have been polled must be in memory, too:
gets and atomics are; puts are if a later atomic has been polled, or get (with PCI Express), or with `placed`. A fence
is one of the network for atomics that may be pending; for puts it has nothing to do, as those of a queue pair are
placed in order.

coreRMA. The same without control flow; a wait is a flush of every peer for which something is pending.

Every control state of the calculus is final. For a program without loops it is enough to look at runs that end where a
rank cannot go on, may be unable to go on, or loops without doing anything: every other run can be continued to such a
run, which has all of its cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, assert_never

from pgasrob.analysis.store_buffers import Buffering, buffering
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.models.litmus.instructions import (
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
    NicCompareAndSet,
    NicFetchAdd,
    Part,
    Poll,
    Put,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
    accesses,
)
from pgasrob.models.litmus.litmus_program import Graph, Location, Program, Thread
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.networks.counterparts import CORERMA, RDMA_TSO, missing
from pgasrob.models.networks.translated_graph import NO_GRAPH, without_silent
from pgasrob.models.networks.unpolled import Peer, Peers, Unpolled, changed, copies, issued
from pgasrob.program import core
from pgasrob.program.commands import show
from pgasrob.program.control import Transition
from pgasrob.program.core import Place
from pgasrob.program.expressions import INT32, Binary, Expr, Fault, Register, Unary, constant
from pgasrob.program.graphs import reached_by
from pgasrob.program.instance import Instance, instantiate
from pgasrob.robustness.free_ways import without_free_ways
from pgasrob.stop_points import stop_point

Network = Literal["rdma-tso", "corerma"]

MOST_UNPOLLED = 24
"""Operations of a rank to one peer that a wait may have to poll; more count as unboundedly many."""
MOST_WAYS_PENDING = 2_000
"""Sequences of operations that may be pending in one control state: each is a state of the translation."""


@dataclass(frozen=True)
class Translation:
    """``program`` does on the network what the ranks of an instance do.

    The instructions that one command has become are its parts. ``remarks``: sentences about this translation for the
    report.
    """

    program: Program
    remarks: tuple[str, ...] = ()


def translate(
    instance: Instance, network: Network, *, pcie: bool = True, placed: bool = False, free_ways: bool = True
) -> Translation:
    """``instance`` as a litmus program, with all ways or without those that may be none of the program
    (`robustness.free_ways`). Raises :class:`Refused` with everything that has no counterpart."""
    if instance.has_threads:
        raise Refused((Refusal("its ranks have several threads, which litmus programs have not"),))
    # Each command by itself, as it is written: which of them conflict is for the network to say.
    instance = instantiate(instance.program, instance.nodes, instance.reading.by_value._replace(conflicts="all"))
    if not free_ways:
        instance = without_free_ways(instance)
    places = _Places(instance)
    threads = [_Thread(instance, rank, network, places, pcie, placed) for rank in range(instance.nodes)]
    graphs = [thread.graph() for thread in threads]
    refusals = [refusal for thread in threads for refusal in thread.refusals]
    if refusals:
        raise Refused(tuple(dict.fromkeys(refusals)))
    program = Program(
        places.locations(),
        tuple(
            Thread(rank, thread.register_names, graph)
            for rank, (thread, graph) in enumerate(zip(threads, graphs, strict=True))
        ),
    )
    remarks = dict.fromkeys(remark for thread in threads for remark in thread.remarks)
    return Translation(program, tuple(remarks))


class _Places:
    """Collects the locations that the translation mentions."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._cells: set[int] = set()
        self.copies: dict[str, Location] = {}

    def cell(self, number: int) -> Cell:
        self._cells.add(number)
        return Cell(self._instance.cell_name(number))

    def copy(self, rank: int, occurrence: int, busy: Iterable[str]) -> Cell:
        """A location for the value that a command of ``rank`` has read, other than the copies in ``busy``."""
        number = 0
        while (name := f"$copy{occurrence}.{number}@{rank}") in busy:
            number += 1
        self.copies[name] = Location(name, rank, shown=False)
        return Cell(name)

    def unread(self, rank: int, peer: int) -> Cell:
        """The location for what remote atomics of ``rank`` on ``peer`` fetch and nobody reads. All of that lands in
        program order, so one is enough."""
        name = f"$unread{peer}@{rank}"
        self.copies[name] = Location(name, rank, shown=False)
        return Cell(name)

    def locations(self) -> tuple[Location, ...]:
        of = self._instance
        cells = [Location(of.cell_name(cell), of.owner(cell), of.memory[cell]) for cell in sorted(self._cells)]
        return (*cells, *(self.copies[name] for name in sorted(self.copies)))


class _No(Exception):
    """An instruction is refused; the argument is the construct that is missing (`counterparts`)."""


class _State(NamedTuple):
    """A control state of a rank, with its pending operations to each peer."""

    control: int
    peers: Peers


class _Thread:
    """Makes the graph of one rank."""

    def __init__(
        self, instance: Instance, rank: int, network: Network, places: _Places, pcie: bool, placed: bool
    ) -> None:
        self.instance, self.rank, self.network, self.places = instance, rank, network, places
        self.pcie, self.placed = pcie, placed
        names = [f"{name}@{rank}" for name in instance.program.registers]
        self.register_names = (*names, f"$1@{rank}", f"$2@{rank}")
        self.scratch = len(names)
        self.refusals: list[Refusal] = []
        self.remarks: list[str] = []
        self._automaton = instance.automata[rank]
        self._waits = self._before_waits()
        self._at_the_end = _last_barriers(instance)

    def _before_waits(self) -> frozenset[int]:
        """The control states from which a command can be reached to which pending operations matter: only there they
        are followed."""
        out = self._automaton.out
        found = {state for state, edges in enumerate(out) if any(self._asks_for_pending(edge.form) for edge in edges)}
        while True:
            stop_point()
            more = {
                state for state, edges in enumerate(out) if state not in found and any(e.target in found for e in edges)
            }
            if not more:
                return frozenset(found)
            found |= more

    def _asks_for_pending(self, form: core.Form) -> bool:
        match form:
            case core.Wait():
                return True
            case core.Fence():  # where atomics may be pending
                edges = self._automaton.transitions
                return any(isinstance(each.form, core.Transfer) and each.form.update is not None for each in edges)
            case core.Transfer(captured=captured, update=update):  # a put of a value has a copy for each one
                return captured is not None or (update is not None and update.operation == "set")
            case core.Immediate(access):
                return access.cell.rank is not None and constant(access.cell.rank) != self.rank
            case core.Assign() | core.Test() | core.Bundle() | core.Barrier():
                return False
            case _:
                assert_never(form)

    def graph(self) -> Graph:
        """The graph of the rank. It is meaningless where ``refusals`` is not empty."""
        first = self._state(0, (Peer(),) * self.instance.nodes)
        numbers: dict[_State, int] = {first: 0}
        order = [first]
        steps: list[list[tuple[tuple[Instruction, ...], int]]] = []
        ends: set[int] = set()
        pending: Counter[int] = Counter()
        if self.network == CORERMA:
            self._straight()
        while len(steps) < len(order):
            stop_point()
            state = order[len(steps)]
            found: list[tuple[tuple[Instruction, ...], int]] = []
            edges = self._automaton.out[state.control]
            if not edges or _may_block(edges):
                ends.add(len(steps))
            for edge in edges:
                for instructions, target in self._made(edge, state):
                    if target not in numbers:
                        numbers[target] = len(order)
                        order.append(target)
                        pending[target.control] += 1
                        if pending[target.control] > MOST_WAYS_PENDING:
                            self._refuse("unbounded waiting", edge)
                            return NO_GRAPH
                    found.append((instructions, numbers[target]))
            steps.append(found)
            if self.refusals and len(order) > 10_000:
                break
        if self.refusals:
            return NO_GRAPH
        graph = without_silent(steps, ends)
        if not graph.bounded:
            graph = without_silent(steps, set(range(len(steps))))
        return graph

    def _straight(self) -> None:
        """Refuse control flow, which coreRMA does not have."""
        out = self._automaton.out
        for edges in out:
            if len(edges) > 1:
                for edge in edges[:1]:
                    self._refuse("control flow", edge)
        state, seen = 0, set()
        while out[state] and state not in seen:
            seen.add(state)
            state = out[state][0].target
        if out[state] and not self.refusals:
            self._refuse("control flow", out[state][0])

    def _state(self, control: int, peers: Peers) -> _State:
        return _State(control, peers if control in self._waits else (Peer(),) * len(peers))

    def _refuse(self, construct: str, edge: Transition) -> None:
        self.refusals.append(missing(construct, self.network).refusal(edge.span, show(edge.command)))

    def _made(self, edge: Transition, state: _State) -> list[tuple[tuple[Instruction, ...], _State]]:
        """The alternatives for a command: its instructions, with the state after it. A refused command has no
        instructions, and the search for more refusals goes on after it."""
        try:
            instructions, peers = self._command(edge, state.peers)
        except _No as no:
            self._refuse(str(no), edge)
            return [((), self._state(edge.target, state.peers))]
        except Fault as fault:
            self.refusals.append(Refusal(f"{show(edge.command)}: it is at fault: {fault}", edge.span))
            return [((), self._state(edge.target, state.peers))]
        # A condition behind a load is part of the command: a read that fails is none.
        parts = (place for place, each in enumerate(instructions) if accesses(each) or isinstance(each, Assume))
        last = max(parts, default=0)
        spanned = tuple(
            replace(each, span=edge.span, part=Part(place, place < last)) for place, each in enumerate(instructions)
        )
        if any(len(peer.unpolled) > MOST_UNPOLLED for peer in peers) and edge.target in self._waits:
            if self.network == RDMA_TSO:
                self._refuse("unbounded waiting", edge)
            if self.refusals:  # in coreRMA a loop has been refused, and a flush is one for any number
                return []
        return [(spanned, self._state(edge.target, peers))]

    def _command(self, edge: Transition, peers: Peers) -> tuple[Sequence[Instruction], Peers]:
        form = edge.form
        match form:
            case core.Assign(register, value):
                return [Assign(register, value)], peers
            case core.Test(condition, blocks, ends):
                if ends:
                    raise _No("exit")
                if not blocks:
                    return [Assign(self.scratch, condition)], peers
                if buffering(edge.command, form, True) is Buffering.EMPTY and self.network == RDMA_TSO:
                    return [MemoryFence()], peers
                if constant(condition):
                    return [], peers
                if self.network == CORERMA:
                    raise _No("control flow")
                return [Assume(condition)], peers
            case core.Immediate(access):
                to = self.rank if access.cell.rank is None else self._number(access.cell.rank)
                return (self._immediate(form), peers) if to == self.rank else self._blocking(edge, form, to, peers)
            case core.Transfer():
                return self._transfer(edge, form, peers)
            case core.Wait(queue, local):
                return self._wait(self._number(queue), local, peers)
            case core.Fence(queue, to):
                if self.network == CORERMA:
                    raise _No("fence")
                return self._fence(self._number(queue), None if to is None else self._number(to), peers), peers
            case core.Bundle():
                return [], peers
            case core.Barrier(name):
                if name not in self._at_the_end:
                    raise _No("barrier")
                self.remarks.append("a barrier behind which no rank does anything orders nothing")
                return [], peers
            case _:
                assert_never(form)

    def _immediate(self, form: core.Immediate[Place, Expr]) -> Sequence[Instruction]:
        cell = self._cell(form.access.cell, self.rank)
        update = form.update
        if update is not None and update.reads | (form.register is not None) | (form.condition is not None):
            plain = form.condition is None and form.until is None and update.operation == "compare_swap"
            if plain and self.network == CORERMA:
                raise _No("compare_swap")
            if not plain or form.register is None or update.operand is None or update.expected is None:
                raise _No("atomic on own memory")
            self.remarks.append("a compare_swap that fails reads and does not write")
            return [CompareAndSet(form.register, cell, update.expected, update.operand)]
        if update is not None:
            assert update.operand is not None
            return [Store(cell, update.operand)]
        if form.may_block and self.network == CORERMA:
            raise _No("await")
        register = self.scratch if form.register is None else form.register
        instructions: list[Instruction] = [Load(register, cell)]
        if form.condition is not None:
            instructions.append(Assume(Binary(form.condition.relation, self._held(register), form.condition.value)))
        if form.until is not None:
            instructions.append(Assume(form.until.holds))
        return instructions

    def _blocking(
        self, edge: Transition, form: core.Immediate[Place, Expr], rank: int, peers: Peers
    ) -> tuple[Sequence[Instruction], Peers]:
        """An access to memory of ``rank`` that is over at once: it is issued, polled, and the register loaded from
        where its result has landed."""
        update = form.update
        if self.network == CORERMA or form.condition is not None or form.register is None:
            raise _No("blocking remote access")
        copy, remote = self.places.copy(self.rank, edge.occurrence, copies(peers)), self._cell(form.access.cell, rank)
        if update is None:
            issue: Instruction = Get(copy, remote)
        else:
            issue = self._remote_atomic(update, copy, remote, update.operand, update.expected)
        after = issued(peers, rank, Unpolled("get" if update is None else "atomic", 0, copy.name))
        polls = len(after[rank].unpolled)
        instructions = [issue, *[Poll(rank)] * polls, Load(form.register, copy)]
        if form.until is not None:
            instructions.append(Assume(form.until.holds))
        return instructions, changed(after, rank, self._polled(after[rank], polls))

    def _remote_atomic(
        self, update: core.Update[Expr], local: Cell, remote: Cell, operand: Expr | None, expected: Expr | None
    ) -> Instruction:
        if update.type != INT32 or update.operation not in ("add", "compare_swap") or operand is None:
            raise _No("remote atomic")
        self.remarks.append(
            "remote atomics are those of the adapter, atomic among each other, and against the rest only with --glob"
        )
        if update.operation == "add":
            return NicFetchAdd(local, remote, operand)
        assert expected is not None
        return NicCompareAndSet(local, remote, expected, operand)

    def _held(self, register: int) -> Register:
        return Register(self.register_names[register], register)

    def _transfer(
        self, edge: Transition, form: core.Transfer[Place, Expr], peers: Peers
    ) -> tuple[Sequence[Instruction], Peers]:
        rank, queue = self._number(form.rank), self._number(form.queue)
        if not 0 <= rank < self.instance.nodes:
            raise Fault(f"rank {rank} is outside 0..{self.instance.nodes - 1}", Wrong.RANK)
        steps = form.steps
        if any(step.after_writes for step in steps):
            raise _No("notification")
        if any(step.after_bundle for step in steps):
            raise _No("signal")
        sets = form.update is not None and form.update.operation == "set" and len(steps) == 1
        atomic = form.update is not None and not (sets and getattr(edge.command, "atomic", "") == "")
        if atomic and self.network == CORERMA:
            return self._accumulate(form, rank, queue, peers)
        if rank == self.rank and self.network == RDMA_TSO:
            raise _No("operation to itself")
        if atomic:
            return self._deferred(edge, form, rank, queue, peers)
        first = steps[0].access.cell
        if form.captured is not None or form.update is not None:  # a put of what was read at its issue, or of a value
            if form.captured is not None:
                read: Instruction = Load(self.scratch, self._cell(form.captured.cell, self.rank))
            else:
                assert form.update is not None and form.update.operand is not None
                read = Assign(self.scratch, form.update.operand)
            copy = self.places.copy(self.rank, edge.occurrence, copies(peers))
            made = [read, Store(copy, self._held(self.scratch)), Put(self._cell(first, rank), copy)]
            return made, issued(peers, rank, Unpolled("put", queue, copy.name))
        second = steps[1].access.cell
        if first.rank is None:
            moved: Instruction = Put(self._cell(second, rank), self._cell(first, self.rank))
        else:
            moved = Get(self._cell(second, self.rank), self._cell(first, rank))
        return [moved], issued(peers, rank, Unpolled("put" if first.rank is None else "get", queue))

    def _deferred(
        self, edge: Transition, form: core.Transfer[Place, Expr], rank: int, queue: int, peers: Peers
    ) -> tuple[Sequence[Instruction], Peers]:
        """A remote atomic that carries its operands: those in memory are read when it is issued."""
        update, cells = form.update, {step.kind: step.access.cell for step in form.steps}
        assert update is not None
        if "popb" not in cells:  # it only fetches
            fetched = Get(self._cell(cells["popc"], self.rank), self._cell(cells["popa"], rank))
            return [fetched], issued(peers, rank, Unpolled("get", queue))
        reads: list[Instruction] = []
        operands = [update.operand, update.expected]
        for place, kind in enumerate(("popa", "popd")):
            if kind in cells:
                register = self.scratch + place
                reads.append(Load(register, self._cell(cells[kind], self.rank)))
                operands[place] = self._held(register)
        result = cells.get("popc")
        local = self.places.unread(self.rank, rank) if result is None else self._cell(result, self.rank)
        issue = self._remote_atomic(update, local, self._cell(cells["popb"], rank), *operands)
        return [*reads, issue], issued(peers, rank, Unpolled("atomic", queue))

    def _accumulate(
        self, form: core.Transfer[Place, Expr], rank: int, queue: int, peers: Peers
    ) -> tuple[Sequence[Instruction], Peers]:
        update, cells = form.update, {step.kind: step.access.cell for step in form.steps}
        assert update is not None
        wanted = {"add": {"popa", "popb", "popc"}, "compare_swap": {"popa", "popd", "popb", "popc"}}
        known = set(cells) == wanted.get(update.operation)
        if not known or update.type != INT32 or any(step.located for step in form.steps):
            raise _No("deferred atomic")
        operand, result = self._cell(cells["popa"], self.rank), self._cell(cells["popc"], self.rank)
        remote = self._cell(cells["popb"], rank)
        instruction: Instruction = (
            GetAccumulate(result, remote, operand)
            if update.operation == "add"
            else RemoteCompareAndSet(result, remote, self._cell(cells["popd"], self.rank), operand)
        )
        return [instruction], issued(peers, rank, Unpolled("atomic", queue))

    def _wait(self, queue: int, local: bool, peers: Peers) -> tuple[Sequence[Instruction], Peers]:
        if self.network == CORERMA:
            return self._flush(queue, local, peers)
        instructions: list[Instruction] = []
        left: list[Peer] = []
        for rank, peer in enumerate(peers):
            mine = [place for place, operation in enumerate(peer.unpolled) if operation.queue == queue]
            polls = max(mine, default=-1) + 1
            instructions += [Poll(rank)] * polls
            left.append(self._polled(peer, polls))
            if not local and queue in left[-1].unplaced:
                raise _No("wait" if self.pcie else "wait without PCI Express")
        return instructions, tuple(left)

    def _polled(self, peer: Peer, polls: int) -> Peer:
        return peer.polled(polls, pcie=self.pcie, placed=self.placed)

    def _fence(self, queue: int, to: int | None, peers: Peers) -> Sequence[Instruction]:
        """A fence of the network where an atomic may be pending, which a later one might overtake."""
        ranks = [
            rank
            for rank, peer in enumerate(peers)
            if to in (None, rank) and any(each.kind == "atomic" and each.queue == queue for each in peer.unpolled)
        ]
        if not ranks:
            self.remarks.append("a fence has nothing to do: the puts of a queue pair are placed in order")
        return [RemoteFence(rank) for rank in ranks]

    def _flush(self, queue: int, local: bool, peers: Peers) -> tuple[Sequence[Instruction], Peers]:
        instructions: list[Instruction] = []
        left: list[Peer] = []
        for rank, peer in enumerate(peers):
            queues = {operation.queue for operation in peer.unpolled}
            if queue not in queues:
                left.append(peer)
                continue
            if queues != {queue}:
                raise _No("wait of one queue")
            if local and any(operation.kind != "get" for operation in peer.unpolled):
                raise _No("wait_local")
            instructions.append(Flush(rank))
            left.append(Peer())
        return instructions, tuple(left)

    def _number(self, expr: Expr) -> int:
        value = constant(expr)
        if value is None:
            raise _No("operand that is computed")
        return value

    def _cell(self, place: Place, rank: int) -> Cell:
        address = self._number(place.address)
        if not 0 <= address < self.instance.size:
            raise Fault(f"address {address} is outside the memory", Wrong.BOUNDS)
        return self.places.cell(rank * self.instance.size + address)


def _last_barriers(instance: Instance) -> frozenset[str]:
    """The names of barriers after which no rank does anything; they are on no cycle, since nothing follows them."""
    names: dict[str, bool] = {}
    for automaton in instance.automata:
        for edge in automaton.transitions:
            if isinstance(edge.form, core.Barrier):
                edges = ((state, each.target) for state, leaving in enumerate(automaton.out) for each in leaving)
                after = (each.form for state in reached_by(edges, [edge.target]) for each in automaton.out[state])
                over = all(isinstance(form, core.Assign | core.Test) for form in after)
                names[edge.form.name] = names.get(edge.form.name, True) and over
    return frozenset(name for name, over in names.items() if over)


def _may_block(edges: Sequence[Transition]) -> bool:
    """Whether a rank with these ``edges`` may be unable to go on. It is able to if one edge has a condition and another
    one its negation."""
    conditions: list[Expr] = []
    for edge in edges:
        match edge.form:
            case core.Test(condition, True, _):
                if not constant(condition):
                    conditions.append(condition)
                    continue
                return False
            case core.Immediate() if edge.form.may_block:
                continue
            case core.Barrier():
                continue
            case _:
                return False
    return not any(Unary("!", condition) in conditions for condition in conditions)
