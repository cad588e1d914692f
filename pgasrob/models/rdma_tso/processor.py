"""A thread of RDMA-TSO: its program and its store buffer (Figure 6 and the upper rules of Figure 7).

Both machines have this in common. What becomes of an operation in its queue pair is theirs: :class:`Pairs`.

Every premise of a rule has a name, and can be left out (``without``), so that a test can tell that it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, assert_never

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
)
from pgasrob.program.expressions import evaluator

PREMISES = (
    "load-looks-in-the-store-buffer",
    "load-takes-the-latest-store",
    "CAS-empties-the-store-buffer",
    "failed-CAS-empties-the-store-buffer",
    "mfence-empties-the-store-buffer",
    "fifo-store-buffer",
    "poll-waits",
    "poll-takes-the-oldest",
    "poll-takes-away",
    "placed-before-polled",
)
"""Those of the rules of the CPU and the store buffer. load-...: M ◁ B(t) for M, and its side condition. CAS-,
failed-CAS-, mfence-...: B(t) = ε. fifo-store-buffer: B(t) = b · entry. poll-...: wbL = α · cn (waits: for a
notification; oldest: behind no write), wbL becomes α. placed-before-polled: the one that ``placed`` adds."""

CPU: Queue = ("cpu", -1)
STORE: Queue = ("store", -1)
FENCE = ("F", None, CPU)

Entry = tuple[str, int, int, int]
"""In a store buffer: ("store", location, value, -1), or an operation with the number of its queue pair: ("put", remote,
local, pair), ("get", local, remote, pair), ("fence", -1, -1, pair)."""

Pair = TypeVar("Pair")


class Local(NamedTuple, Generic[Pair]):
    """A state of a thread: control state (-1: it has chosen to end), registers, store buffer with the oldest first, the
    queue pairs."""

    control: int
    registers: tuple[int, ...]
    buffer: tuple[Entry, ...]
    pairs: tuple[Pair, ...]


Change = tuple[bool, Option]
"""What may be done next, and whether it can be done first."""


class Pairs(Protocol[Pair]):
    """The queue pairs of a thread: six buffers each, or the simplified ones. Numbers of pairs are those of
    ``Processor.nodes``."""

    @property
    def empty(self) -> Pair: ...

    def drained(self, pair: Pair) -> bool:
        """Whether nothing but notifications is left."""
        ...

    def enter(self, pair: Pair, operation: Entry) -> Pair:
        """The operation comes from the store buffer."""
        ...

    def polled(self, pair: Pair) -> Pair | None:
        """The pair after a poll, None while it has to wait."""
        ...

    def changes(self, local: Local[Pair], number: int) -> Iterator[Change]:
        """What the pair may do next."""
        ...


class Processor(Generic[Pair]):
    """The component of thread ``number`` of ``program``. ``pairs``: how its queue pairs work."""

    def __init__(
        self,
        program: Program,
        number: int,
        sharing: Sharing,
        without: frozenset[str],
        reduced: bool,
        pairs: Callable[[Processor[Pair]], Pairs[Pair]],
    ) -> None:
        thread = program.threads[number]
        self.number, self.sharing, self.without, self.reduced = number, sharing, without, reduced
        self.graph, self._places = thread.graph, program.places
        self.nodes = sorted({node for each in self.graph.instructions if (node := node_of(program, each)) >= 0})
        self._pair_of = {node: place for place, node in enumerate(self.nodes)}
        self._program = program
        self.puts_ahead, self.polls_ahead = _ahead(self, Put), _ahead(self, Poll)
        self._pairs = pairs(self)
        self.initial: Local[Pair] = Local(0, (0,) * len(thread.registers), (), (self._pairs.empty,) * len(self.nodes))
        self._edges = [[self._edge(instruction, target) for instruction, target in edges] for edges in self.graph.out]
        self._looks = "load-looks-in-the-store-buffer" not in without
        self._latest = "load-takes-the-latest-store" not in without
        self._fifo = "fifo-store-buffer" not in without

    def registers(self, local: Local[Pair]) -> tuple[int, ...]:
        return local.registers

    def finished(self, local: Local[Pair]) -> bool:
        if local.buffer or not all(map(self._pairs.drained, local.pairs)):
            return False
        control = local.control
        return control < 0 or (control in self.graph.ends and not self._edges[control])

    def options(self, local: Local[Pair]) -> tuple[bool, Sequence[Option]]:
        """What the thread may do next.

        First, in the sense of `operational`, may come: what the CPU does when each of its alternatives touches nothing
        but registers, the young end of the store buffer, or a location that nobody else has to do with; a store that
        leaves the buffer for such a location, and an operation that does so for its queue pair. Of none of these does
        anything else that may be next take notice, but for being enabled by it. The CPU comes last, so that a loop
        does not fill buffers that could be empty.
        """
        options: list[Option] = []
        for pair in range(len(self.nodes)):
            for change in self._pairs.changes(local, pair):
                if change[0] and self.reduced:
                    return True, (change[1],)
                options.append(change[1])
        for change in self._debuffed(local):
            if change[0] and self.reduced:
                return True, (change[1],)
            options.append(change[1])
        edges = self._edges[local.control] if local.control >= 0 else ()
        first, mine = self.reduced and bool(edges), list[Option]()
        for edge in edges:
            for may_be_first, option in edge(local):
                first = first and may_be_first
                if option is not None:
                    mine.append(option)
        if edges and local.control in self.graph.ends:
            mine.append(fixed(Result((), local._replace(control=-1))))
        return (True, mine) if first else (False, mine + options)

    def _debuffed(self, local: Local[Pair]) -> Iterator[Change]:
        """What may leave the store buffer: its oldest entry."""
        buffer = local.buffer
        for place in range(1 if self._fifo and buffer else len(buffer)):
            entry = buffer[place]
            rest = buffer[:place] + buffer[place + 1 :]
            kind, location, value, number = entry
            if kind == "store":
                index = sum(1 for other in buffer[:place] if other[0] == "store")
                word = (Step(self.number, "drain", None, (), (Access(STORE, index, location, None, value),)),)
                result = Result(word, local._replace(buffer=rest), ((location, value),))
                yield self.sharing.own(("cpu", self.number), location), fixed(result)
            else:
                pair = self._pairs.enter(local.pairs[number], entry)
                pairs = at(local.pairs, number, pair)
                result = Result((Step(self.number, "send"),), local._replace(buffer=rest, pairs=pairs))
                yield True, fixed(result)

    def _edge(
        self, instruction: Instruction, target: int
    ) -> Callable[[Local[Pair]], Iterator[tuple[bool, Option | None]]]:
        """What ``instruction`` may do in a state: an option, or None where it has to wait, and whether no more than
        what is there will ever be and it can be done first."""
        number = self.number

        def done(local: Local[Pair], word: Step, **changes: Any) -> Option:
            return fixed(Result((word,), local._replace(control=target, **changes)))

        match instruction:
            case Load(register, cell):
                return self._load(instruction, register, self._places[cell.name], target)
            case Store(cell, expression):
                value, location = evaluator(expression), self._places[cell.name]
                issued = Step(number, "store", instruction, (Begun("lW", location, STORE),))

                def store(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
                    entry = ("store", location, evaluated(value, local.registers, instruction), -1)
                    yield True, done(local, issued, buffer=(*local.buffer, entry))

                return store
            case Assign(register, expression):
                value = evaluator(expression)
                computed = Step(number, "assign", instruction)

                def assign(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
                    new = evaluated(value, local.registers, instruction)
                    yield True, done(local, computed, registers=at(local.registers, register, new))

                return assign
            case Assume(expression):
                value = evaluator(expression)
                assumed = Step(number, "assume", instruction)

                def assume(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
                    holds = evaluated(value, local.registers, instruction)
                    yield True, done(local, assumed) if holds else None

                return assume
            case MemoryFence():
                fenced = Step(number, "mfence", instruction, (Begun(*FENCE),), (Access(CPU),))
                waits = "mfence-empties-the-store-buffer" not in self.without

                def fence(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
                    if local.buffer and waits:
                        yield False, None
                    else:
                        yield True, done(local, fenced)

                return fence
            case CompareAndSet():
                return self._compare_and_set(instruction, target)
            case Put(remote, local_cell):
                node = self._program.node_of(remote)
                to, source = self._places[remote.name], self._places[local_cell.name]
                begins = (Begun("nlR", source, ("source", node)), Begun("nrW", to, ("place", node)))
                return self._operation(instruction, "put", (to, source), node, begins, target)
            case Get(local_cell, remote):
                node = self._program.node_of(remote)
                to, source = self._places[local_cell.name], self._places[remote.name]
                begins = (Begun("nrR", source, ("fetch", node)), Begun("nlW", to, ("land", node)))
                return self._operation(instruction, "get", (to, source), node, begins, target)
            case RemoteFence(node):
                return self._operation(
                    instruction, "fence", (-1, -1), node, (Begun("nF", None, ("fence", node)),), target
                )
            case Poll(node):
                pair = self._pair_of[node]
                queue: Queue = ("cpu", node)
                polled = Step(number, "poll", instruction, (Begun("P", None, queue),), (Access(queue),))

                def poll(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
                    after = self._pairs.polled(local.pairs[pair])
                    if after is None:
                        yield False, None
                    else:
                        pairs = at(local.pairs, pair, after)
                        yield True, done(local, polled, pairs=pairs)

                return poll
            case GetAccumulate() | RemoteCompareAndSet() | Flush():
                raise AssertionError("RDMA-TSO refuses it")
            case _:
                assert_never(instruction)

    def _operation(
        self,
        instruction: Instruction,
        kind: str,
        operands: tuple[int, int],
        node: int,
        begins: tuple[Begun, ...],
        target: int,
    ) -> Callable[[Local[Pair]], Iterator[tuple[bool, Option | None]]]:
        """An operation of the network enters the store buffer."""
        entry = (kind, *operands, self._pair_of[node])
        word = (Step(self.number, {"fence": "rfence"}.get(kind, kind), instruction, begins),)

        def issue(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
            yield True, fixed(Result(word, local._replace(control=target, buffer=(*local.buffer, entry))))

        return issue

    def _load(
        self, instruction: Instruction, register: int, location: int, target: int
    ) -> Callable[[Local[Pair]], Iterator[tuple[bool, Option | None]]]:
        number = self.number
        begins = (Begun("lR", location, CPU),)
        calm = self.sharing.calm(("cpu", number), location)

        def loaded(local: Local[Pair], value: int, own: int | None) -> Result:
            source = None if own is None else (STORE, own)
            word = Step(number, "load", instruction, begins, (Access(CPU, 0, location, value, None, source),))
            return Result((word,), local._replace(control=target, registers=at(local.registers, register, value)))

        def load(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
            stores = [entry for entry in local.buffer if entry[0] == "store"]
            mine = [place for place, entry in enumerate(stores) if entry[1] == location] if self._looks else []
            for place in mine[-1:] if self._latest else mine:
                result = loaded(local, stores[place][2], place)
                yield calm, fixed(result)
            if not mine:
                yield calm, Option((location,), lambda value: loaded(local, value, None))

        return load

    def _compare_and_set(
        self, instruction: CompareAndSet, target: int
    ) -> Callable[[Local[Pair]], Iterator[tuple[bool, Option | None]]]:
        """It is done in memory once the store buffer is empty. One that fails is a fence and a read."""
        number, register = self.number, instruction.register
        expected, new = evaluator(instruction.expected), evaluator(instruction.new)
        location = self._places[instruction.cell.name]
        own = self.sharing.own(("cpu", number), location)
        waits = "CAS-empties-the-store-buffer" not in self.without
        failing_waits = "failed-CAS-empties-the-store-buffer" not in self.without
        success = (Begun("CAS", location, CPU),)
        failure = (Begun(*FENCE), Begun("lR", location, CPU))

        def compare_and_set(local: Local[Pair]) -> Iterator[tuple[bool, Option | None]]:
            held = evaluated(expected, local.registers, instruction)
            written = evaluated(new, local.registers, instruction)

            def then(value: int) -> Result | None:
                registers = local.registers if register is None else at(local.registers, register, value)
                after = local._replace(control=target, registers=registers)
                if value == held:
                    if local.buffer and waits:
                        return None
                    access = Access(CPU, 0, location, value, written)
                    return Result(
                        (Step(number, "CAS", instruction, success, (access,)),), after, ((location, written),)
                    )
                if local.buffer and failing_waits:
                    return None
                accesses = (Access(CPU), Access(CPU, 0, location, value))
                return Result((Step(number, "failed CAS", instruction, failure, accesses),), after)

            if local.buffer and waits and failing_waits:
                yield False, None
            else:
                yield own, Option((location,), then)

        return compare_and_set


def node_of(program: Program, instruction: Instruction) -> int:
    """The node that ``instruction`` is about, -1 for none."""
    match instruction:
        case Put(remote) | Get(_, remote):
            return program.node_of(remote)
        case Poll(node) | RemoteFence(node):
            return node
    return -1


def sharing_of(program: Program) -> Sharing:
    """Which part of the machine reads and writes which location: the CPU of a thread, and of each queue pair what
    reads the sources of puts, places them, fetches for gets and lands them."""
    places = program.places

    def accessed(number: int, instruction: Instruction) -> Iterator[Accessed]:
        node = node_of(program, instruction)
        match instruction:
            case Load(_, cell):
                yield ("cpu", number), places[cell.name], True, False
            case Store(cell):
                yield ("cpu", number), places[cell.name], False, True
            case CompareAndSet(_, cell):
                yield ("cpu", number), places[cell.name], True, True
            case Put(remote, local):
                yield ("source", number, node), places[local.name], True, False
                yield ("place", number, node), places[remote.name], False, True
            case Get(local, remote):
                yield ("fetch", number, node), places[remote.name], True, False
                yield ("land", number, node), places[local.name], False, True

    return Sharing(program, accessed)


def _ahead(processor: Processor[Any], kind: type[Put | Poll]) -> list[frozenset[int]]:
    """For each control state the queue pairs that a put (a poll) may still be executed for from there on."""
    program, out = processor._program, processor.graph.out
    ahead: list[set[int]] = [set() for _ in out]
    changed = True
    while changed:
        changed = False
        for state, edges in enumerate(out):
            before = len(ahead[state])
            for instruction, target in edges:
                if isinstance(instruction, kind):
                    ahead[state].add(processor._pair_of[node_of(program, instruction)])
                ahead[state] |= ahead[target]
            changed |= len(ahead[state]) > before
    return [*map(frozenset, ahead), frozenset()]  # the last for control state -1


Item = TypeVar("Item")


def left_out(items: tuple[Item, ...], place: int) -> tuple[Item, ...]:
    """``items`` without the one at ``place``."""
    return items[:place] + items[place + 1 :]


def machine_of(
    program: Program,
    pairs: Callable[[Processor[Pair]], Pairs[Pair]],
    without: frozenset[str],
    premises: Collection[str],
    reduced: bool,
) -> Machine[Local[Pair]]:
    """The machine whose threads have such ``pairs``, without some of its ``premises``; ValueError for others. What may
    be done first is so with all premises alone."""
    if unknown := without.difference(premises):
        raise ValueError(f"no premise {', '.join(sorted(unknown))}")
    sharing, reduced = sharing_of(program), reduced and not without
    threads = [Processor(program, number, sharing, without, reduced, pairs) for number in range(len(program.threads))]
    return Machine(program, threads, sharing.constant if reduced else frozenset())
