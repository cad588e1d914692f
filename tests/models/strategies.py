"""Litmus programs for tests: random ones in the dialect of a model, and all small ones of RDMA-TSO.

Everything is made of a ``random.Random``, so that a seed says which programs a test has had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from random import Random
from typing import Literal

from pgasrob.models.litmus.instructions import (
    Cell,
    CompareAndSet,
    Get,
    Instruction,
    Load,
    MemoryFence,
    NicCompareAndSet,
    NicFetchAdd,
    Poll,
    Put,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Block, Choose, Location, Loop, Program, Thread, straight
from pgasrob.program.expressions import Const

Dialect = Literal["rdma-tso", "corerma", "tso", "sc"]
BRANCHING = {"rdma-tso", "tso", "sc"}
"""The dialects with choice and loops."""


class _Text:
    """Writes one program. A thread is a list of statements; places are drawn from the locations of its node."""

    def __init__(self, random: Random, dialect: Dialect, nodes: int, locations: int, branching: bool, atomic: bool):
        self.random = random
        self.remote_atomics = False
        self.dialect = dialect
        self.branching = branching and dialect in BRANCHING
        self.atomic = atomic or dialect != "corerma"
        self.nodes = list(range(1, nodes + 1))
        owners = self.nodes + [random.choice(self.nodes) for _ in range(max(0, locations - nodes))]
        self.places = {
            node: [f"{'xyzwvutsrq'[i]}" for i, owner in enumerate(owners) if owner == node] for node in self.nodes
        }
        self.initial = {place: random.choice((0, 0, 0, 1)) for places in self.places.values() for place in places}
        self.values = 0
        self.latest = ""

    def head(self) -> str:
        at = {place: node for node, places in self.places.items() for place in places}
        return ", ".join(f"{place}@{at[place]}={self.initial[place]}" for place in sorted(at, key="xyzwvutsrq".index))

    def thread(self, number: int, node: int, size: int) -> str:
        self.node, self.number, self.registers = node, number, 0
        self.pending = dict.fromkeys(self.nodes, 0)
        return f"{node}: {self.statements(size)}"

    def statements(self, size: int, depth: int = 0) -> str:
        parts: list[str] = []
        while size > 0:
            if self.branching and depth < 2 and size > 1 and self.random.random() < 0.2:
                inner = self.random.randint(1, min(size, 3))
                before = dict(self.pending)
                if self.random.random() < 0.6:
                    other = self.statements(self.random.randint(0, inner - 1), depth + 1)
                    mine, self.pending = self.pending, before
                    one = self.statements(inner, depth + 1)
                    self.pending = {node: min(mine[node], self.pending[node]) for node in self.nodes}
                    parts.append(f"choose {{ {one} }} or {{ {other} }}")
                else:
                    parts.append(f"loop {self.random.randint(1, 2)} {{ {self.statements(inner, depth + 1)} }}")
                    self.pending = {node: min(before[node], self.pending[node]) for node in self.nodes}
                size -= inner
            else:
                parts.append(self.statement())
                size -= 1
        return "; ".join(parts)

    def statement(self) -> str:
        kinds: dict[str, int] = {"load": 5, "store": 5}
        others = [node for node in self.nodes if node != self.node and self.places[node]]
        if self.dialect != "tso" and others:
            kinds |= {"get": 5, "put": 5}
        if self.dialect == "corerma" and others:
            kinds |= {"rga": 2, "cas": 2, "flush": 4}
        if self.dialect in ("rdma-tso", "sc") and others:
            kinds |= {"poll": 8 if any(self.pending.values()) else 0, "rfence": 1}
        if self.dialect in ("rdma-tso", "tso", "sc"):
            kinds |= {"mfence": 1, "CAS": 1, "arithmetic": 1, "assume": 1 if self.branching else 0}
        if self.remote_atomics and others:
            kinds |= {"rcas": 4, "rfaa": 4}
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        writer: Callable[[list[int]], str] = getattr(self, kind)
        return writer(others)

    # Places and values

    def local(self) -> str:
        """A location of the thread's node, mostly another one than the last: orders of one location say little."""
        places = self.places[self.node]
        others = [place for place in places if place != self.latest]
        self.latest = self.random.choice(others if others and self.random.random() < 0.6 else places)
        return self.latest + self.access()

    def remote(self, node: int) -> str:
        return f"{self.random.choice(self.places[node])}^{node}{self.access()}"

    def access(self) -> str:
        return ".n" if not self.atomic and self.random.random() < 0.5 else ""

    def source(self) -> str:
        return self.local() if self.random.random() < 0.8 else str(self.value())

    def value(self) -> int:
        self.values = self.values % 3 + 1
        return self.values

    def register(self) -> str:
        self.registers += 1
        return f"{'abc'[self.number % 3]}{self.registers}"

    def any_register(self) -> str | None:
        return f"{'abc'[self.number % 3]}{self.random.randint(1, self.registers)}" if self.registers else None

    # Statements

    def load(self, others: list[int]) -> str:
        return f"{self.register()} = {self.local()}"

    def store(self, others: list[int]) -> str:
        register = self.any_register()
        if register and self.random.random() < 0.3:
            return f"{self.local()} = {register}{self.random.choice(('', ' + 1', ' * 2'))}"
        if self.random.random() < 0.1:
            return f"{self.local()} = {self.local()} + 1"
        return f"{self.local()} = {self.value()}"

    def get(self, others: list[int]) -> str:
        node = self.random.choice(others)
        self.pending[node] += 1
        return f"{self.local()} = {self.remote(node)}"

    def put(self, others: list[int]) -> str:
        node = self.random.choice(others)
        self.pending[node] += 1
        return f"{self.remote(node)} = {self.source()}"

    def rga(self, others: list[int]) -> str:
        return f"{self.local()} = rga({self.remote(self.random.choice(others))}, {self.source()})"

    def cas(self, others: list[int]) -> str:
        return f"{self.local()} = cas({self.remote(self.random.choice(others))}, {self.source()}, {self.source()})"

    def rcas(self, others: list[int]) -> str:
        node = self.random.choice(others)
        self.pending[node] += 1
        expected = str(self.random.choice((0, 0, 1, 2)))
        if self.random.random() < 0.2:
            expected = self.any_register() or self.local()
        return f"{self.local()} = rcas({self.remote(node)}, {expected}, {self.value()})"

    def rfaa(self, others: list[int]) -> str:
        node = self.random.choice(others)
        self.pending[node] += 1
        register = self.any_register()
        added = register if register and self.random.random() < 0.3 else str(self.value())
        return f"{self.local()} = rfaa({self.remote(node)}, {added})"

    def flush(self, others: list[int]) -> str:
        return f"flush({self.random.choice(others)})"

    def poll(self, others: list[int]) -> str:
        node = self.random.choice([node for node, count in self.pending.items() if count])
        self.pending[node] -= 1
        return f"poll({node})"

    def rfence(self, others: list[int]) -> str:
        return f"rfence({self.random.choice(others)})"

    def mfence(self, others: list[int]) -> str:
        return "mfence"

    def CAS(self, others: list[int]) -> str:
        given = f"{self.register()} = " if self.random.random() < 0.7 else ""
        return f"{given}CAS({self.local()}, {self.random.randint(0, 2)}, {self.value()})"

    def arithmetic(self, others: list[int]) -> str:
        register = self.any_register()
        return f"{self.register()} = {register or self.local()} {self.random.choice('+-*&|')} {self.value()}"

    def assume(self, others: list[int]) -> str:
        return f"assume({self.local()} {self.random.choice(('==', '!='))} {self.random.randint(0, 2)})"


def random_text(
    random: Random,
    dialect: Dialect,
    *,
    threads: tuple[int, int] = (1, 3),
    nodes: tuple[int, int] = (1, 3),
    statements: int = 6,
    locations: int = 4,
    branching: bool = False,
    atomic: bool = True,
    remote_atomics: bool = False,
) -> str:
    """The text of a random program: so many threads and nodes (at least, at most), at most so many ``statements`` in
    all threads together and about so many ``locations``. ``branching``: with choice, loops and assume, where the
    dialect has them; ``atomic``: without non-atomic accesses (coreRMA);
    ``remote_atomics``: with rcas and rfaa. Polls have a pending operation."""
    number = random.randint(*threads)
    count = random.randint(*nodes)
    if dialect == "corerma":  # one thread a node
        count = max(count, number)
    writer = _Text(random, dialect, count, locations, branching, atomic)
    writer.remote_atomics = remote_atomics
    owners = (
        random.sample(writer.nodes, number)
        if dialect == "corerma"
        else [random.choice(writer.nodes) for _ in range(number)]
    )
    sizes = [1] * number
    most = max(0, statements - number)
    for _ in range(max(random.randint(0, most), random.randint(0, most))):
        sizes[random.randrange(number)] += 1
    return f"{writer.head()} :: " + " || ".join(
        writer.thread(each, node, size) for each, (node, size) in enumerate(zip(owners, sizes, strict=True))
    )


def random_program(random: Random, dialect: Dialect, **sizes: object) -> Program:
    """The program of :func:`random_text`."""
    return parse(random_text(random, dialect, **sizes)).program  # type: ignore[arg-type]


def features(program: Program) -> Counter[str]:
    """How often each kind of instruction, of block and of access occurs in the texts of the threads."""
    found: Counter[str] = Counter()

    def count(block: Block) -> None:
        for item in block:
            found[type(item).__name__] += 1
            match item:
                case Choose(branches):
                    for branch in branches:
                        count(branch)
                case Loop(_, body):
                    count(body)
                case _:
                    cells = [getattr(item, name) for name in item.__slots__ if isinstance(getattr(item, name), Cell)]
                    found["non-atomic"] += sum(not cell.atomic for cell in cells)

    for thread in program.threads:
        count(thread.body)
    found[f"{len(program.threads)} threads"] += 1
    found[f"{len({location.node for location in program.locations})} nodes"] += 1
    return found


# All small programs

Statement = tuple[str, tuple[int, ...]]
"""What a statement does: "load" and the location, "get" with the local and the remote one, "put" the other way round,
"rcas" and "rfaa" as "get", "CAS" and the location, "poll" and "rfence" with a node, "mfence"."""
Small = tuple[tuple[int, ...], tuple[tuple[int, tuple[Statement, ...]], ...]]
"""The node of each location, and of each thread its node and statements."""


def small_programs(
    statements: int,
    *,
    locations: int = 3,
    threads: int = 2,
    nodes: int = 2,
    remote: Sequence[str] = ("get", "put"),
    others: Sequence[str] = (),
) -> Iterator[Program]:
    """All straight programs of RDMA-TSO with at most so many statements, locations, threads and nodes, each once up to
    the names of locations, nodes and threads. ``remote``: kinds of operations, of which there is one at least unless
    there are none; ``others``: kinds that there may be besides.

    Every location is mentioned. Locations hold distinct values at first, stores write further ones, and a CAS or rcas
    expects the first value, so that an outcome tells from where each value has come; each load and CAS has a register.
    A poll has a pending operation before it in its thread. No thread ends with an rfence or mfence, which would do
    nothing.
    """
    operations = (*(remote or ("get", "put")), *others)

    @cache
    def bodies_of(node: int, size: int, owners: tuple[int, ...]) -> list[tuple[Statement, ...]]:
        return _bodies(node, size, owners, nodes, operations)

    for size in range(1, statements + 1):
        seen: set[Small] = set()
        for count in range(1, min(threads, size) + 1):
            for owners in _owners(locations, nodes):
                for at in combinations_with_replacement(range(nodes), count):
                    for sizes in _splits(size, count):
                        for bodies in product(*(bodies_of(n, k, owners) for n, k in zip(at, sizes, strict=True))):
                            small = (owners, tuple(zip(at, bodies, strict=True)))
                            if not _whole(small, remote):
                                continue
                            least = _least(small)
                            if least not in seen:
                                seen.add(least)
                                yield small_program(least)


def _owners(most: int, nodes: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, most + 1):
        yield from combinations_with_replacement(range(nodes), count)


def _splits(size: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield (size,)
        return
    for first in range(1, size - count + 2):
        for rest in _splits(size - first, count - 1):
            yield (first, *rest)


def _bodies(
    node: int, size: int, owners: tuple[int, ...], nodes: int, operations: Sequence[str]
) -> list[tuple[Statement, ...]]:
    local = [place for place, owner in enumerate(owners) if owner == node]
    remote = [place for place, owner in enumerate(owners) if owner != node]
    peers = [other for other in range(nodes) if other != node and other in owners]
    alphabet: list[Statement] = [(kind, (place,)) for kind in ("load", "store", "CAS") for place in local]
    alphabet += [(kind, pair) for pair in product(local, remote) for kind in operations]
    alphabet += [(kind, (peer,)) for kind in ("poll", "rfence") for peer in peers] + [("mfence", ())]

    def possible(body: tuple[Statement, ...]) -> bool:
        pending = dict.fromkeys(peers, 0)
        for kind, operands in body:
            if kind in operations:
                pending[owners[operands[1]]] += 1
            elif kind == "poll":
                pending[operands[0]] -= 1
                if pending[operands[0]] < 0:
                    return False
        return body[-1][0] not in ("rfence", "mfence")

    return [body for body in product(alphabet, repeat=size) if possible(body)]


def _whole(small: Small, remote: Sequence[str]) -> bool:
    owners, threads = small
    statements = [statement for _, body in threads for statement in body]
    if remote and not any(kind in remote for kind, _ in statements):
        return False
    mentioned = {place for kind, at in statements if kind not in ("poll", "rfence") for place in at}
    return len(mentioned) == len(owners)


def _least(small: Small) -> Small:
    """The least of the programs that differ from ``small`` in names alone."""
    owners, threads = small

    def renamed(order: tuple[int, ...]) -> Small:
        nodes: dict[int, int] = {}
        places: dict[int, int] = {}

        def node(old: int) -> int:
            return nodes.setdefault(old, len(nodes))

        def place(old: int) -> int:
            node(owners[old])
            return places.setdefault(old, len(places))

        made = []
        for number in order:
            at, body = threads[number]
            mine = node(at)
            made.append(
                (
                    mine,
                    tuple((kind, tuple(map(node if kind in ("poll", "rfence") else place, at))) for kind, at in body),
                )
            )
        return tuple(nodes[owners[old]] for old in places), tuple(made)

    return min(renamed(order) for order in permutations(range(len(threads))))


def small_program(small: Small) -> Program:
    """The litmus program of its numbers: locations x, y, z..., registers a, b, c..., nodes from 1 on."""
    owners, bodies = small
    names = "xyzwvuts"
    value, register, added, threads = len(owners), 0, 100, []
    for node, body in bodies:
        instructions: list[Instruction] = []
        registers: list[str] = []
        for kind, operands in body:
            cells = [Cell(names[place]) for place in operands if kind not in ("poll", "rfence")]
            if kind in ("load", "CAS"):
                registers.append("abcdefgh"[register])
                register += 1
            if kind in ("store", "CAS", "rcas"):
                value += 1
            match kind:
                case "load":
                    instructions.append(Load(len(registers) - 1, cells[0]))
                case "store":
                    instructions.append(Store(cells[0], Const(value)))
                case "CAS":
                    expected = Const(operands[0] + 1)
                    instructions.append(CompareAndSet(len(registers) - 1, cells[0], expected, Const(value)))
                case "get":
                    instructions.append(Get(cells[0], cells[1]))
                case "put":
                    instructions.append(Put(cells[1], cells[0]))
                case "rcas":
                    expected = Const(operands[1] + 1)
                    instructions.append(NicCompareAndSet(cells[0], cells[1], expected, Const(value)))
                case "rfaa":
                    instructions.append(NicFetchAdd(cells[0], cells[1], Const(added)))
                    added *= 2
                case "poll":
                    instructions.append(Poll(operands[0] + 1))
                case "rfence":
                    instructions.append(RemoteFence(operands[0] + 1))
                case "mfence":
                    instructions.append(MemoryFence())
                case _:
                    raise ValueError(kind)
        threads.append(Thread(node + 1, tuple(registers), straight(tuple(instructions)), tuple(instructions)))
    locations = tuple(Location(names[place], owner + 1, place + 1) for place, owner in enumerate(owners))
    return Program(locations, tuple(threads))
