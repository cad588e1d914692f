"""Changes of the declarative model, and the proof that some of them change nothing.

A *flip* puts another value into a cell of Figure 9. Of yes, no and sqp the last two are one where a type of the cell
has no queue pair. A flip is *implied* when the other edges have the same closure with it and without: then it never
changes what is consistent. That is decided on short threads: whether two events are ordered by ippo, oppo, nfo, pf,
rf_b or rb_b depends on these two alone, so the edges of a short thread are those that its events have in any thread
that they are part of. An event of a put or get comes with the other one of the operation, those of a remote atomic come
with the others, once with its write and once without. The lock orders the events of two such operations.

1. Where the short threads that consist of the two instructions (or the one) that the events of the cell belong to have
   the same closure with the flip and without, an edge that the flip takes away follows from edges that are left, and
   one that it adds from edges that were there, in every thread.
2. An mfence or rfence has no edges but those by the tables. So only what they say of the events before and after it
   matters, and it is enough that the threads `x; fence; y` have the same closure among the events of x and y. A chain
   of rfences orders no more than its last one, for the cells of its members are the same, unless J10 is changed.
3. The point of issue of a write has edges from and to other threads only where its point of observation has them too
   (rf to others). For a cell of ippo it is thus enough that all short threads of the two instructions of the cell and
   a third one have the same closure among all points but those of issue of this kind of write: a way through such
   points enters and leaves them by edges of which each thread of three has two that follow one another.

That there is no fourth kind of implied flip is not claimed: flips that none of the three shows are noticed by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from pgasrob.models.candidate_executions import Candidate, Path
from pgasrob.models.litmus.instructions import (
    Cell,
    CompareAndSet,
    Get,
    Instruction,
    Load,
    MemoryFence,
    NicCompareAndSet,
    Poll,
    Put,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_program import Location, Program, Thread, straight
from pgasrob.models.rdma_tso.expansion import NIC_WRITES, expand
from pgasrob.models.rdma_tso.orders import CELLS, KINDS, Rules, kinds_of
from pgasrob.models.rdma_tso.orders import Cell as Order
from pgasrob.models.rdma_tso.points import Edges, Graph
from pgasrob.models.relations import joined
from pgasrob.program.expressions import Const

WITH_QUEUE_PAIR = frozenset(("P", "nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW"))
"""Types whose labels name a remote node. For all others `sqp` is the same as `no`."""


@dataclass(frozen=True, slots=True)
class Flip:
    """``cell`` holds ``value`` and not what Figure 9 has."""

    cell: str
    value: Order

    def __str__(self) -> str:
        return f"{self.cell}={self.value}"


def flips(rules: Rules) -> Iterator[Flip]:
    """All flips that are not the tables of ``rules`` again."""
    for cell in CELLS:
        pairs = WITH_QUEUE_PAIR.issuperset(kinds_of(cell))
        for value in ("yes", "no", "sqp") if pairs else ("yes", "no"):
            if rules.orders.at(cell) != value:
                yield Flip(cell, value)


def flipped(rules: Rules, flip: Flip) -> Rules:
    """The rules with that change."""
    return replace(rules, orders=rules.orders.with_cell(flip.cell, flip.value))


LOCATIONS = tuple(Location(name, node) for name, node in (("a", 1), ("b", 1), ("y", 2), ("z", 3)))
PLACES = {2: "y", 3: "z"}


def instruction(kind: str, node: int) -> Instruction:
    """One that has an event of this type, towards that node where it is towards one."""
    remote = Cell(PLACES[node])
    match kind:
        case "lR":
            return Load(0, Cell("a"))
        case "lW":
            return Store(Cell("a"), Const(1))
        case "CAS":
            return CompareAndSet(None, Cell("a"), Const(0), Const(1))
        case "F":
            return MemoryFence()
        case "P":
            return Poll(node)
        case "nlR" | "nrW":
            return Put(remote, Cell("a"))
        case "nrR" | "nlW":
            return Get(Cell("b"), remote)
        case "nF":
            return RemoteFence(node)
        case "naR" | "naW":
            return NicCompareAndSet(Cell("b"), remote, Const(0), Const(1))
    raise AssertionError(kind)


@dataclass(frozen=True, slots=True)
class Short:
    """A short thread, and the numbers of its events that are hidden: all their points, or those of issue alone."""

    instructions: tuple[Instruction, ...]
    hidden: Callable[[int, str], bool] = lambda number, kind: False
    """Whether an event is, by the number of its instruction and its kind."""
    issue_alone: bool = False


def closures(short: Short, rules: Rules) -> list[list[int] | None]:
    """For each way in which its events may be ordered by nfo, locks, pf, rf_b and rb_b, the closure of all edges among
    the points that are not hidden, None where that is a cycle. Remote atomics succeed or fail."""
    program = Program(LOCATIONS, (Thread(1, ("r",), straight(short.instructions)),))
    found: list[list[int] | None] = []
    for fails in product(*((0, 1) if isinstance(each, NicCompareAndSet) else (0,) for each in short.instructions)):
        path = Path(program, 0)
        for number, (each, way) in enumerate(zip(short.instructions, fails, strict=True)):
            path.operation = number
            expand(path, each)[way]()
        found += _closures(short, rules, path)
    return found


def _closures(short: Short, rules: Rules, path: Path) -> Iterator[list[int] | None]:
    graph = Graph(Candidate(path.program, (path,)), rules, {})
    hidden = 0
    for number, action in enumerate(path.actions):
        if short.hidden(action.operation, action.kind):
            hidden |= 1 << graph.issue[number]
            hidden |= 0 if short.issue_alone else 1 << graph.seen[number]
    for edges in product(*ways(graph)):
        rows = graph.start
        for source, target in (edge for some in edges for edge in some):
            rows = None if rows is None else joined(rows, source, target)
        yield None if rows is None else [0 if hidden >> n & 1 else row & ~hidden for n, row in enumerate(rows)]


def ways(graph: Graph) -> Iterator[tuple[Edges, ...]]:
    """For each pair of events that nfo, a lock, pf, rf_b or rb_b may order beside the tables, the edges of every such
    order."""
    for choice in (*graph.flush_choices(), *graph.lock_choices()):
        yield choice.forward, choice.backward
    actions, issue, seen = graph.candidate.actions, graph.issue, graph.seen
    for one, other in product(range(len(actions)), repeat=2):
        write, read = actions[one], actions[other]
        if write.kind in NIC_WRITES and read.kind == "P" and one < other and write.towards == read.towards:
            local = write.kind == "nlW"
            yield (), ((issue[one], issue[other]), *([(seen[one], seen[other])] if local else []))
        if (write.kind, read.kind) in READS_AND_WRITES and graph.buffered_rf(one, other):
            yield (), ((issue[one], issue[other]),), ((issue[other], issue[one]), (seen[other], seen[one]))


READS_AND_WRITES = {("lW", "lR"), ("nlW", "nlR"), ("nrW", "nrR"), ("nrW", "naR")}
NODES = (2, 3)


def threads_with(flip: Flip) -> Iterator[Short]:
    """The short threads with two events of the flip's types, one after the other (argument 1)."""
    earlier, later = kinds_of(flip.cell)
    if (earlier, later) in OPERATIONS:
        yield Short((instruction(earlier, 2),))
    for node in NODES:
        yield Short((instruction(earlier, 2), instruction(later, node)))


def threads_around(flip: Flip, fence: str) -> Iterator[Short]:
    """The short threads around a fence (argument 2)."""
    chains = [(instruction(fence, 2),)]
    if flip.cell.endswith("J10"):
        chains += [(instruction(fence, 2), instruction(fence, node)) for node in NODES]
    for earlier, later, before, after, chain in product(KINDS, KINDS, NODES, NODES, chains):
        if fence not in (earlier, later):
            short = (instruction(earlier, before), *chain, instruction(later, after))
            yield Short(short, lambda _, kind: kind == fence)


def threads_through(flip: Flip, first: bool) -> Iterator[Short]:
    """The short threads with the points of issue of a write of the cell, the first or the second, and of its like
    hidden (argument 3)."""
    earlier, later = kinds_of(flip.cell)
    write = earlier if first else later
    pairs = [(instruction(earlier, 2), instruction(later, node)) for node in NODES]
    operation = [(instruction(earlier, 2),)] if (earlier, later) in OPERATIONS else []
    for kind, node, pair in product(KINDS, NODES, [*pairs, *operation]):
        for place in range(len(pair) + 1):
            other = len(pair) - 1 if first else 0  # the instruction of the cell's other event
            stays = other + (place <= other) if earlier == later else None

            def hidden(number: int, kind: str, stays: int | None = stays) -> bool:
                return kind == write and number != stays

            yield Short((*pair[:place], instruction(kind, node), *pair[place:]), hidden, issue_alone=True)


OPERATIONS = (("nlR", "nrW"), ("nrR", "nlW"), ("naR", "naW"), ("naR", "nlW"), ("naW", "nlW"))
"""Types of events that one put, get or remote atomic has."""


def implied(flip: Flip, rules: Rules) -> int | None:
    """The number of an argument that shows that the flip changes nothing."""
    changed, kinds = flipped(rules, flip), kinds_of(flip.cell)

    def same(threads: Iterable[Short]) -> bool:
        return all(closures(short, rules) == closures(short, changed) for short in threads)

    if same(threads_with(flip)):
        return 1
    if any(fence in kinds and same(threads_around(flip, fence)) for fence in ("F", "nF")):
        return 2
    if flip.cell.startswith("ippo"):
        writes = {"lW", "nlW", "nrW"}
        if any(kinds[not first] in writes and same(threads_through(flip, first)) for first in (True, False)):
            return 3
    return None
