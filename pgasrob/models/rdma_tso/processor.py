"""A thread in both machines of RDMA-TSO: its program and its store buffer (Figure 6 and the upper rules of Figure 7).
Where the machines differ is what happens to an operation in its queue pair: :class:`Pairs`.

Every premise of a rule has a name, and can be left out (``without``), so that tests show that it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import chain
from typing import Generic, NamedTuple, Protocol, TypeVar, assert_never

from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Graph, Program
from pgasrob.models.operational import Access, Begun, Machine, Option, Queue, Result, Sharing, Step, at, fixed
from pgasrob.models.thread_control import STORE, Change, Control, Execute, MachineThread, value_of
from pgasrob.program.expressions import INT32
from pgasrob.program.graphs import reached_by

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
"""The premises of the rules of the CPU and the store buffer. load-...: M ◁ B(t) for M, and its side condition. CAS-,
failed-CAS-, mfence-...: B(t) = ε. fifo-store-buffer: B(t) = b · entry. poll-...: wbL = α · cn (waits: for a
notification; oldest: no write is older), wbL becomes α. placed-before-polled: the one that ``placed`` adds."""

Entry = tuple[str, int, int, int]
"""An entry of a store buffer: ("store", location, value, -1), or an operation with the number of its queue pair:
("put", remote, local, pair), ("get", local, remote, pair), ("fence", -1, -1, pair), ("atomic", local, number, pair)
with the number of a :class:`Request`."""


class Request(NamedTuple):
    """A remote atomic on its way. ``operand`` is added, or written where ``expected`` is what the location holds."""

    remote: int
    operand: int
    expected: int | None = None

    def written(self, held: int) -> int | None:
        """What it writes to a location that holds a value; None for nothing."""
        if self.expected is None:
            return INT32.wrap(held + self.operand)
        return self.operand if held == self.expected else None


class Update(NamedTuple):
    """A remote atomic that has fetched ``held`` from a location and still has to write ``new`` there."""

    remote: int
    held: int
    new: int


Pair = TypeVar("Pair")


class Local(NamedTuple, Generic[Pair]):
    """A state of a thread: control state (-1: it has chosen to end), registers, store buffer with the oldest first, the
    queue pairs."""

    control: int
    registers: tuple[int, ...]
    buffer: tuple[Entry, ...]
    pairs: tuple[Pair, ...]


PairChange = tuple[bool, Option]
"""Whether a step can be done first, and the step."""


class Pairs(Protocol[Pair]):
    """The queue pairs of a thread: six buffers each, or the simplified ones. Numbers of pairs are those of
    ``Processor.nodes``."""

    @property
    def empty(self) -> Pair: ...

    def drained(self, pair: Pair) -> bool:
        """Whether only notifications are left."""
        ...

    def enter(self, pair: Pair, operation: Entry) -> Pair:
        """The pair with an ``operation`` that has left the store buffer."""
        ...

    def polled(self, pair: Pair) -> Pair | None:
        """The pair after a poll; None while the poll has to wait."""
        ...

    def changes(self, local: Local[Pair], number: int) -> Iterator[PairChange]:
        """The next steps of the pair."""
        ...


class Processor(MachineThread[Local[Pair]], litmus.Visitor[Execute[Local[Pair]]], Generic[Pair]):
    """Thread ``number`` of ``program``, as a component of a machine. ``pairs`` gives the rules of its queue pairs."""

    def __init__(
        self,
        program: Program,
        number: int,
        sharing: Sharing,
        without: frozenset[str],
        reduced: bool,
        pairs: Callable[[Processor[Pair]], Pairs[Pair]],
    ) -> None:
        super().__init__(program, number, sharing, reduced)
        thread = program.threads[number]
        self.without, self.graph = without, thread.graph
        self.nodes = nodes_of_pairs(program, self.graph)
        self._pair_of = {node: place for place, node in enumerate(self.nodes)}
        nothing = frozenset[int]()  # of control state -1
        self.puts_ahead = [*ahead(program, self.graph, litmus.Put), nothing]
        self.polls_ahead = [*ahead(program, self.graph, litmus.Poll), nothing]
        self.requests, self.updates = Numbers[Request](), Numbers[Update]()
        self._pairs = pairs(self)
        self.initial: Local[Pair] = Local(0, (0,) * len(thread.registers), (), (self._pairs.empty,) * len(self.nodes))
        self._control = Control(self.graph, self.visit)
        self._fifo = self.has("fifo-store-buffer")

    def has(self, premise: str) -> bool:
        return premise not in self.without

    def finished(self, local: Local[Pair]) -> bool:
        return not local.buffer and all(map(self._pairs.drained, local.pairs)) and self._control.ended(local)

    def options(self, local: Local[Pair]) -> tuple[bool, Sequence[Option]]:
        """What the thread may do next.

        These may come first, in the sense of `operational`: a step of the CPU, when all of its alternatives touch only
        registers, the young end of the store buffer, or a location that no other part accesses; a store that leaves the
        buffer for such a location; an operation that leaves it for its queue pair. They may enable other steps that may
        be next, and change none of them otherwise. The CPU comes last, so that a loop does not fill buffers that could
        be empty. Why this is sound is in `proofs/models.md`, "What is done first".
        """
        options: list[Option] = []
        of_pairs = (self._pairs.changes(local, pair) for pair in range(len(self.nodes)))
        for may_be_first, option in chain(chain.from_iterable(of_pairs), self._debuffed(local)):
            if may_be_first and self.reduced:
                return True, (option,)
            options.append(option)
        first, mine = self._control.executed(local)
        return (True, mine) if first and self.reduced else (False, mine + options)

    def _debuffed(self, local: Local[Pair]) -> Iterator[PairChange]:
        """The steps in which an entry leaves the store buffer: the oldest one."""
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

    # Instructions

    def store(self, instruction: litmus.Store) -> Execute[Local[Pair]]:
        location, value = self.program.place(instruction.cell), value_of(instruction.value, instruction)
        word = (Step(self.number, "store", instruction, (Begun("lW", location, STORE),)),)

        def execute(local: Local[Pair]) -> Iterator[Change]:
            entry = ("store", location, value(local.registers), -1)
            yield True, fixed(Result(word, local._replace(buffer=(*local.buffer, entry))))

        return execute

    def load(self, instruction: litmus.Load) -> Execute[Local[Pair]]:
        location = self.program.place(instruction.cell)
        calm = self.sharing.calm(("cpu", self.number), location)
        looks, latest = self.has("load-looks-in-the-store-buffer"), self.has("load-takes-the-latest-store")

        def execute(local: Local[Pair]) -> Iterator[Change]:
            stores = [entry for entry in local.buffer if entry[0] == "store"]
            mine = [place for place, entry in enumerate(stores) if entry[1] == location] if looks else []
            for place in mine[-1:] if latest else mine:
                yield calm, fixed(self.loaded(instruction, local, stores[place][2], place))
            if not mine:
                yield calm, Option((location,), lambda value: self.loaded(instruction, local, value))

        return execute

    def memory_fence(self, instruction: litmus.MemoryFence) -> Execute[Local[Pair]]:
        waits = self.has("mfence-empties-the-store-buffer")
        return self.waiting(self.mfence(instruction), lambda local: local.buffer and waits)

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Execute[Local[Pair]]:
        """It is done in memory once the store buffer is empty."""
        location, compared = self.program.place(instruction.cell), self.compares(instruction)
        own = self.sharing.own(("cpu", self.number), location)
        waits = self.has("CAS-empties-the-store-buffer")
        failing_waits = self.has("failed-CAS-empties-the-store-buffer")

        def execute(local: Local[Pair]) -> Iterator[Change]:
            then = compared(local)

            def unless_waiting(value: int) -> Result | None:
                result = then(value)
                succeeds = bool(result.writes)
                return None if local.buffer and (waits if succeeds else failing_waits) else result

            if local.buffer and waits and failing_waits:
                yield False, None
            else:
                yield own, Option((location,), unless_waiting)

        return execute

    def _operation(self, instruction: litmus.Put | litmus.Get | litmus.RemoteFence) -> Execute[Local[Pair]]:
        """An operation of the network enters the store buffer."""
        node = node_of(self.program, instruction)
        pair, word = self._pair_of[node], instruction.word
        match instruction:
            case litmus.Put(remote, local):
                to, source = self.program.place(remote), self.program.place(local)
                begins: tuple[Begun, ...] = (Begun("nlR", source, ("source", node)), Begun("nrW", to, ("place", node)))
                entry: Entry = ("put", to, source, pair)
            case litmus.Get(local, remote):
                to, source = self.program.place(local), self.program.place(remote)
                begins = (Begun("nrR", source, ("fetch", node)), Begun("nlW", to, ("land", node)))
                entry = ("get", to, source, pair)
            case litmus.RemoteFence():
                begins, entry = (Begun("nF", None, ("fence", node)),), ("fence", -1, -1, pair)
        steps = (Step(self.number, word, instruction, begins),)

        def execute(local: Local[Pair]) -> Iterator[Change]:
            yield True, fixed(Result(steps, local._replace(buffer=(*local.buffer, entry))))

        return execute

    get = put = remote_fence = _operation

    def poll(self, instruction: litmus.Poll) -> Execute[Local[Pair]]:
        pair = self._pair_of[instruction.node]
        queue: Queue = ("cpu", instruction.node)
        word = (Step(self.number, "poll", instruction, (Begun("P", None, queue),), (Access(queue),)),)

        def execute(local: Local[Pair]) -> Iterator[Change]:
            after = self._pairs.polled(local.pairs[pair])
            if after is None:
                yield False, None
            else:
                yield True, fixed(Result(word, local._replace(pairs=at(local.pairs, pair, after))))

        return execute

    def _atomic(self, instruction: litmus.NicAtomic) -> Execute[Local[Pair]]:
        """A remote atomic enters the store buffer, with its operands as they are now."""
        node = node_of(self.program, instruction)
        pair, to, source = self._pair_of[node], *map(self.program.place, (instruction.local, instruction.remote))
        fetch, update = Begun("naR", source, ("fetch", node)), Begun("naW", source, ("update", node))
        begins = (fetch, update, Begun("nlW", to, ("land", node)))
        steps = (Step(self.number, instruction.word, instruction, begins),)
        request = request_of(self.program, instruction)

        def execute(local: Local[Pair]) -> Iterator[Change]:
            entry = ("atomic", to, self.requests.number(request(local.registers)), pair)
            yield True, fixed(Result(steps, local._replace(buffer=(*local.buffer, entry))))

        return execute

    nic_compare_and_set = nic_fetch_add = _atomic

    get_accumulate = remote_compare_and_set = flush = litmus.refused


def node_of(program: Program, instruction: litmus.Instruction) -> int:
    """The node whose queue pair ``instruction`` uses, -1 for none."""
    node = litmus.node_of(instruction, program.owners)
    return -1 if node is None else node


def nodes_of_pairs(program: Program, graph: Graph) -> list[int]:
    """The nodes to which a thread has queue pairs, in the order of the numbers of these."""
    return sorted({node for each in graph.instructions if (node := node_of(program, each)) >= 0})


def ahead(program: Program, graph: Graph, kind: type[litmus.Put | litmus.Poll]) -> list[frozenset[int]]:
    """For each control state the queue pairs that an instruction of this kind may still be executed for from there
    on."""
    edges = [(state, instruction, target) for state, out in enumerate(graph.out) for instruction, target in out]
    back = [(target, state) for state, _, target in edges]
    found = [
        reached_by(
            back, [state for state, each, _ in edges if isinstance(each, kind) and node_of(program, each) == node]
        )
        for node in nodes_of_pairs(program, graph)
    ]
    return [
        frozenset(number for number, states in enumerate(found) if state in states) for state in range(len(graph.out))
    ]


def request_of(program: Program, instruction: litmus.NicAtomic) -> Callable[[Sequence[int]], Request]:
    """The request of a remote atomic, by the registers."""
    remote = program.place(instruction.remote)
    match instruction:
        case litmus.NicFetchAdd(operand=operand):
            values = [value_of(operand, instruction)]
        case litmus.NicCompareAndSet(expected=expected, new=new):
            values = [value_of(new, instruction), value_of(expected, instruction)]
        case _:
            assert_never(instruction)
    return lambda registers: Request(remote, *(value(registers) for value in values))


def sharing_of(program: Program) -> Sharing:
    """Which parts of the machine access each location. The parts are the CPU of each thread and four parts of each
    queue pair, which read the sources of puts, place puts, fetch for gets and land gets."""
    return Sharing(program, lambda thread, access, node: (access.stage, thread, *(() if node is None else (node,))))


Item = TypeVar("Item", bound=Hashable)


class Numbers(Generic[Item]):
    """Numbers for what an entry of a buffer has to carry beside its two numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Item, int] = {}
        self._items: list[Item] = []

    def number(self, item: Item) -> int:
        number = self._numbers.setdefault(item, len(self._items))
        if number == len(self._items):
            self._items.append(item)
        return number

    def __getitem__(self, number: int) -> Item:
        return self._items[number]


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
    """The machine whose threads have such ``pairs``, without some of its ``premises``; ValueError for other names. The
    reduction is proved for all premises only, so it is off where some are left out."""
    if unknown := without.difference(premises):
        raise ValueError(f"no premise {', '.join(sorted(unknown))}")
    sharing, reduced = sharing_of(program), reduced and not without
    threads = [Processor(program, number, sharing, without, reduced, pairs) for number in range(len(program.threads))]
    constant = sharing.constant if reduced else frozenset[int]()
    return Machine(program, threads, constant, hidden=len(locks_of(program)))


def locks_of(program: Program) -> dict[int, int]:
    """The hidden cell of each node whose adapter executes remote atomics: 1 while one has fetched and not written."""
    instructions = (instruction for thread in program.threads for instruction in thread.graph.instructions)
    nodes = {node_of(program, each) for each in instructions if isinstance(each, litmus.NicAtomic)}
    return {node: len(program.locations) + place for place, node in enumerate(sorted(nodes))}
