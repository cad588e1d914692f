"""Random programs in which stores of a rank's processor, its loads, and accesses of others to the same cells meet."""

from __future__ import annotations

from random import Random

from tests.oracle.expressions import Int, op
from tests.oracle.syntax import (
    Assign,
    Await,
    Barrier,
    Cell,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    If,
    Load,
    Notify,
    Process,
    Program,
    Put,
    Queue,
    Read,
    Statement,
    Store,
    Swap,
    Update,
    Wait,
    WaitLocal,
    Write,
)


def buffering_program(seed: int) -> Program:
    """The program of ``seed``: two or three ranks with two or three shared cells, up to five commands each."""
    random = Random(seed)
    nodes = random.choice((2, 2, 2, 3))
    cells = random.choice((("x", "y"), ("x", "y", "z")))
    queues = (Queue("q", random.random() < 0.4),)
    barriers = random.random() < 0.15
    processes = []
    for rank in range(nodes):
        body: list[Statement] = []
        for _ in range(random.randint(2, 5 if nodes == 2 else 3)):
            body += _command(random, rank, nodes, cells)
        if barriers:
            body.insert(random.randint(0, len(body)), Barrier())
        processes.append(Process(tuple(body), (rank,)))
    memory = tuple(Cell(cell, None, (random.choice((0, 0, 3)),)) for cell in cells)
    return Program(tuple(processes), nodes, memory, ("r", "s"), queues)


def _command(random: Random, rank: int, nodes: int, cells: tuple[str, ...]) -> list[Statement]:
    cell, other, register = random.choice(cells), random.choice(cells), random.choice(("r", "s"))
    # Mostly everybody is about the cells of rank 0.
    home = rank if random.random() < 0.3 else 0 if random.random() < 0.7 else random.randrange(nodes)
    value = Int(random.randint(1, 2)) if random.random() < 0.6 else register
    store = Store(cell, value) if home == rank else Store(cell, value, home)
    load = Load(register, cell) if home == rank else Load(register, cell, home)
    transfer = random.choice(
        (
            Write(other, home, cell, "q"), Read(other, home, cell, "q"), Put(other, home, cell, "q"),
            Update(random.choice(("set", "add")), 1, home, cell, "q", random.choice((None, other))),
            Notify("set", 1, home, cell, "q"),
        )
    )  # fmt: skip
    atomic = random.choice(
        (
            FetchAdd(register, home, cell, 1), Swap(register, home, cell, 1), CompareSwap(register, home, cell, 0, 1),
            Fetch(register, home, cell), Fetch(register, home, cell),
        )
    )  # fmt: skip
    rest = random.choice(
        (
            Wait("q"), WaitLocal("q"), Fence("q"), Assign(register, 1), Await(cell, "!=", 0),
            If(op("==", register, 0), (Store(other, 1),), (Load("r", other),)),
        )
    )  # fmt: skip
    kind = random.choices(("store", "load", "transfer", "atomic", "rest"), (6, 6, 3, 1, 1))[0]
    match kind:
        case "store":
            return [store]
        case "load":
            return [load]
        case "transfer":
            return [transfer, *random.choice(((), (Wait("q"),), (Wait("q"),), (WaitLocal("q"),)))]
        case "atomic":
            return [atomic]
    return [rest]
