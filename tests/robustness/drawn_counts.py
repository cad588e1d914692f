"""Random programs of the oracle in which ranks add to counters, compare what they fetch, and wait for counters."""

from __future__ import annotations

from random import Random

from tests.oracle.expressions import op
from tests.oracle.syntax import (
    Await,
    Block,
    Cell,
    CompareSwap,
    FetchAdd,
    If,
    Load,
    Notify,
    Process,
    Program,
    Queue,
    Read,
    Store,
    Swap,
    Wait,
    Write,
)

CELLS = (Cell("x"), Cell("y"), Cell("z"))


def drawn_counts(seed: int) -> Program:
    """Such a program, of two or three ranks."""
    random = Random(seed)
    nodes = random.choice((2, 2, 3))
    blocks = []
    for _ in range(nodes):
        commands = (_commands(random) for _ in range(random.randint(1, 3 if nodes == 2 else 2)))
        blocks.append(tuple(each for some in commands for each in some))
    processes = tuple(Process(block, (rank,)) for rank, block in enumerate(blocks))
    return Program(processes, nodes, CELLS, ("r", "s"), (Queue("q", False), Queue("p", False)))


def _commands(random: Random) -> Block:
    flag, rank, value = random.choice("xxy"), random.randrange(2), random.randint(0, 2)
    compared = op(random.choice(("==", "!=", "<", ">=")), "r", value)
    add = FetchAdd("r", rank, flag, random.randint(1, 2))
    ways: dict[Block, float] = {
        (add, If(compared, _simple(random), _simple(random))): 7,
        (Await(flag, random.choice(("==", ">=", "!=", "<")), value),): 4,
        (Notify("set", value, rank, flag, "q"),): 3,
        (Write("z", rank, flag, "q"),): 2,
        (Store(flag, value),): 1,
        (Load("s", random.choice("xyz")),): 2,
        (Read("z", rank, flag, "q"),): 1,
        (Wait("q"),): 1,
        (Swap("s", rank, flag, value),): 1,
        (CompareSwap("s", rank, flag, value, 1),): 1,
    }
    return random.choices(list(ways), list(ways.values()))[0]


def _simple(random: Random) -> Block:
    """A command for one side of a comparison, or none."""
    return random.choice(((), (Store("z", 1),), (Notify("set", 2, random.randrange(2), "x", "p"),), (Load("s", "y"),)))
