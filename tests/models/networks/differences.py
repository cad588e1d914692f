"""Random programs on which the calculus and RDMA-TSO differ, each difference put down to what makes it.

A litmus program is read as a program of the calculus in one of two ways: `poll` as wait_local of all to that peer
(faithful as far as it goes), or `poll` and `rfence` as a wait, as somebody might take them who knows the calculus.
A difference is explained by a smallest set of changes to RDMA-TSO, or to the program, that take it away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from pgasrob.models.litmus.instructions import (
    Assign,
    Cell,
    CompareAndSet,
    Get,
    Instruction,
    Load,
    MemoryFence,
    Poll,
    Put,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_program import Location, Program, Thread, straight
from pgasrob.models.networks.robustness import by_executions
from pgasrob.models.rdma_tso.declarative import Declarative
from pgasrob.models.rdma_tso.orders import FIGURE_9, Orders
from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.declarations import MemoryObject, Process, Queue, Source
from pgasrob.program.expressions import Const, Register, Symbol
from pgasrob.program.program import Program as PgasProgram
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.program.statements import NOWHERE, Block, Do
from pgasrob.robustness.definition import DefinitionSearch

WRONG_ROBUST = {
    1: "the CPU's store buffer",
    2: "a poll of a put says that it is acknowledged, not placed",
    3: "a poll takes one completion, the oldest",
    4: "gets are fetched in any order",
    5: "a get may be overtaken by a later put of its queue pair",
    6: "without PCI Express a get that has arrived places nothing",
    7: "an rfence is no completion",
}
WRONG_NOT_ROBUST = {
    1: "put, then get of one queue pair: source, arrival and fetch are in order",
    2: "a polled get places the earlier puts",
    3: "gets land in order, sources are read in order, puts are placed in order",
    4: "an operation sees all that its CPU wrote before",
    5: "an rfence orders a get before what is later",
}


@dataclass(frozen=True)
class Case:
    """A program and how it is asked about."""

    program: Program
    pcie: bool
    naive: bool
    unordered: bool


def on_rdma(
    program: Program,
    pcie: bool,
    placed: bool = False,
    orders: Orders = FIGURE_9,
    without: frozenset[str] = frozenset(),
) -> bool:
    model = Declarative(pcie=pcie, placed=placed, orders=orders, without=without)
    return by_executions(model, program).violation is None


def instructions_of(thread: Thread) -> list[Instruction]:
    return [edges[0][0] for edges in thread.graph.out if edges]


def rewritten(program: Program, change: object) -> Program:
    threads = tuple(
        replace(thread, graph=straight(tuple(change(instructions_of(thread)))), body=())  # type: ignore[operator]
        for thread in program.threads
    )
    return replace(program, threads=threads)


# The calculus


def in_the_calculus(case: Case) -> bool:
    """Whether it is robust there: the threads are ranks, and every peer has a queue."""
    program = case.program
    nodes = sorted({location.node for location in program.locations} | {thread.node for thread in program.threads})
    ranks = {node: rank for rank, node in enumerate(nodes)}
    names = [name for thread in program.threads for name in thread.registers]
    places = program.places
    first = 0
    processes = {rank: Process((rank,), Block(())) for rank in ranks.values()}
    for thread in program.threads:
        made: list[Command] = []
        for instruction in instructions_of(thread):
            made += _commands(instruction, program, ranks, ranks[thread.node], first, len(names), case.naive, places)
        processes[ranks[thread.node]] = Process(
            (ranks[thread.node],), Block(tuple(Do(command, NOWHERE) for command in made))
        )
        first += len(thread.registers)
    written = PgasProgram(
        "random",
        len(ranks),
        tuple(MemoryObject(each.name, n, None, (each.initial,)) for n, each in enumerate(program.locations)),
        (*(f"r{n}" for n in range(len(names))), "old"),
        tuple(Queue(f"q{rank}", rank, case.unordered) for rank in ranks.values()),
        tuple(processes[rank] for rank in ranks.values()),
        Source("<random>", ""),
    )
    search = DefinitionSearch(written.instantiate(len(ranks), DEFAULT_READING.by_value))
    for _ in search.run():
        pass
    assert search.gave_up is None
    return search.violation is None


def _commands(
    instruction: Instruction,
    program: Program,
    ranks: dict[int, int],
    rank: int,
    first: int,
    hidden: int,
    naive: bool,
    places: dict[str, int],
) -> Iterator[Command]:
    def register(number: int | None) -> Register:
        return Register("old", hidden) if number is None else Register("r", first + number)

    def address(name: str) -> Symbol:
        return Symbol(name, places[name])

    match instruction:
        case Load(into, cell):
            yield commands.Load(register(into), address(cell.name))
        case Store(cell, value):
            assert isinstance(value, Const)
            yield commands.Store(address(cell.name), value)
        case CompareAndSet(into, cell, expected, new):
            assert isinstance(expected, Const) and isinstance(new, Const)
            yield commands.CompareSwap(register(into), Const(rank), address(cell.name), expected, new)
        case Get(local, remote):
            peer = Const(ranks[program.node_of(remote)])
            yield commands.Read(address(local.name), peer, address(remote.name), peer)
        case Put(remote, local):
            peer = Const(ranks[program.node_of(remote)])
            yield commands.Write(address(local.name), peer, address(remote.name), peer)
        case Poll(node):
            queue = Const(ranks[node])
            yield commands.Wait(queue) if naive else commands.WaitLocal(queue)
        case RemoteFence(node):
            yield commands.Wait(Const(ranks[node])) if naive else commands.Fence(Const(ranks[node]), None)
        case MemoryFence() | Assign():
            return
        case _:
            raise AssertionError(instruction)


# Programs


def random_case(random: Random) -> Case:
    """Ranks with a few statements each, and one cell more than it takes to be interesting."""
    nodes = random.choice((2, 2, 2, 3))
    naive = random.random() < 0.5
    locations = [Location("abcdefgh"[n], n % nodes, random.choice((0, 0, 1))) for n in range(nodes + 2)]
    at = {node: [each.name for each in locations if each.node == node] for node in range(nodes)}
    threads = []
    for node in range(nodes):
        made: list[Instruction] = []
        unpolled = dict.fromkeys(range(nodes), 0)
        for _ in range(random.randint(0, 4 if nodes == 2 else 2)):
            peer = random.choice([each for each in range(nodes) if each != node])
            own, there = Cell(random.choice(at[node])), Cell(random.choice(at[peer]))
            kinds = ["load", "store", "get", "put", "get", "put"]
            kinds += ["poll", "poll"] * bool(unpolled[peer]) + ["rfence"] * (random.random() < 0.5)
            match random.choice(kinds):
                case "load":
                    made.append(Load(0, own))
                case "store":
                    made.append(Store(own, Const(random.randint(2, 3))))
                case "get":
                    made.append(Get(own, there))
                    unpolled[peer] += 1
                case "put":
                    made.append(Put(there, own))
                    unpolled[peer] += 1
                case "poll":
                    polls = 1 if naive else unpolled[peer]
                    made += [Poll(peer)] * polls
                    unpolled[peer] -= polls
                case _:
                    made.append(RemoteFence(peer))
        threads.append(Thread(node, (f"r{node}",), straight(tuple(made))))
    return Case(Program(tuple(locations), tuple(threads)), random.random() < 0.7, naive, random.random() < 0.5)


# Explanations


def _fenced(instructions: list[Instruction]) -> Iterator[Instruction]:
    for each in instructions:
        yield each
        if isinstance(each, Store):
            yield MemoryFence()


def _polling_all(kind: type[Instruction]) -> object:
    def change(instructions: list[Instruction]) -> Iterator[Instruction]:
        """Where a ``kind`` stands all that is pending towards its node is polled; polls that then have nothing to poll
        go away."""
        unpolled: dict[int, int] = {}
        for each in instructions:
            match each:
                case Get() | Put():
                    node = _node[each.remote.name]
                    unpolled[node] = unpolled.get(node, 0) + 1
                    yield each
                case Poll(node) | RemoteFence(node):
                    count = unpolled.get(node, 0)
                    if isinstance(each, kind):
                        yield from [Poll(node)] * count
                        unpolled[node] = 0
                    elif isinstance(each, Poll):
                        if count:
                            yield each
                            unpolled[node] = count - 1
                    else:
                        yield each
                case _:
                    yield each

    return change


_node: dict[str, int] = {}


def stronger(case: Case, ways: tuple[int, ...]) -> bool:
    """Whether RDMA-TSO without these ways to be weaker is robust."""
    program, orders = case.program, FIGURE_9
    _node.clear()
    _node.update({location.name: location.node for location in program.locations})
    if 3 in ways:
        program = rewritten(program, _polling_all(Poll))
    if 7 in ways:
        program = rewritten(program, _polling_all(RemoteFence))
    if 1 in ways:
        program = rewritten(program, _fenced)
    for table in ("ippo", "oppo"):
        for cell in ("H8",) * (4 in ways) + ("H6", "H7", "I6", "I7") * (5 in ways):
            orders = orders.with_cell(f"{table}.{cell}", "sqp")
    return on_rdma(program, case.pcie or 6 in ways, 2 in ways, orders)


def weaker(case: Case, ways: tuple[int, ...]) -> bool:
    """Whether RDMA-TSO without these ways to be stronger is robust."""
    program, orders, pcie = case.program, FIGURE_9, case.pcie
    if 5 in ways:
        program = rewritten(program, lambda made: [each for each in made if not isinstance(each, RemoteFence)])
    cells = {1: ("F8", "G8", "G9"), 3: ("F6", "G7", "I9"), 4: ("B6", "B7", "B8", "B9")}
    for way in ways:
        for cell in cells.get(way, ()):
            for table in ("ippo", "oppo"):
                orders = orders.with_cell(f"{table}.{cell}", "no")
    # Where a poll stands between a put and a get, the get meets the put at the adapter.
    without = frozenset(("nfo.remote", "nfo.local", *("rbb.sqp",) * (not pcie))) if 1 in ways else frozenset()
    return on_rdma(program, pcie and 2 not in ways, False, orders, without)


def explained(case: Case, robust: bool) -> tuple[int, ...] | None:
    """A smallest set of ways that takes the difference away, the calculus saying ``robust``; None: there is none."""
    # What an operation sees of the stores before it is the same in the calculus: no difference is put down to that.
    ways = tuple(WRONG_ROBUST) if robust else (2, 1, 3, 5)
    for size in range(1, len(ways) + 1):
        for chosen in combinations(ways, size):
            if (stronger if robust else weaker)(case, chosen) == robust:
                return chosen
    if not robust and case.unordered and in_the_calculus(replace(case, unordered=False)):
        return (3,)  # FIFO queues have the order (of a source before a later arrival, cell F7), unordered ones lose it
    return None


def difference(case: Case) -> tuple[bool, tuple[int, ...] | None] | None:
    """What the calculus says and what explains it, when RDMA-TSO says otherwise."""
    robust = in_the_calculus(case)
    if on_rdma(case.program, case.pcie) == robust:
        return None
    return robust, explained(case, robust)
