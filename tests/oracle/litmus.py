"""Small named programs, each with the verdict that the design's text gives it, and why. One idea a pair."""

from __future__ import annotations

from .expressions import Expr, op
from .syntax import (
    Assert,
    Await,
    Barrier,
    Block,
    Cell,
    CompareSwap,
    Fence,
    FetchAdd,
    Load,
    Loop,
    Process,
    Program,
    Queue,
    Read,
    Statement,
    Store,
    Wait,
    WaitLocal,
    While,
    Write,
)

RIGHT = op("%", op("+", "me", 1), "nodes")
CELLS = (Cell("x"), Cell("y"), Cell("z", None, (1,)), Cell("w"))
ONE, ZERO = "not robust", "robust"  # there is a violation, there is none


def ranks(*bodies: Block, unordered: bool = False) -> Program:
    """One block for each rank; memory x, y, z = 1, w; registers r, s; queues q and p (FIFO)."""
    processes = tuple(Process(body, (rank,)) for rank, body in enumerate(bodies))
    return Program(processes, len(bodies), CELLS, ("r", "s"), (Queue("q", unordered), Queue("p")))


def one_to_one(*between: Statement) -> Program:
    """1to1 (the design: section 3; the paper: figure 1)."""
    body = (Write("x", RIGHT, "y", "q"), *between, Barrier(), Load("r", "y"), Assert(op("==", "r", 1)))
    return Program((Process(body),), 2, (Cell("x", None, (1,)), Cell("y")), ("r",), (Queue("q"),), "one_to_one")


def store_buffering(first: Block, second: Block) -> Program:
    """Each rank puts into the other, then loads its own cell."""
    return ranks(
        (Write("z", 1, "x", "q"), *first, Load("r", "y")),
        (Write("z", 0, "y", "q"), *second, Load("r", "x")),
    )


def message(*between: Statement, unordered: bool = False, flag_queue: Expr | str = "q") -> Program:
    """Data x, then flag y, to rank 1, which waits for the flag and loads the data."""
    put = (Write("z", 1, "x", "q"), *between, Write("z", 1, "y", flag_queue))
    return ranks(put, (Await("y", "!=", 0), Load("r", "x")), unordered=unordered)


def message_apart(*between: Statement, unordered: bool = False) -> Program:
    """Data x to rank 1, flag y to rank 2."""
    put = (Write("z", 1, "x", "q"), *between, Write("z", 2, "y", "q"))
    return ranks(put, (), (Await("y", "!=", 0), FetchAdd("r", 1, "x", 0)), unordered=unordered)


def gets(*between: Statement, unordered: bool = False) -> Program:
    """Two gets from a rank that stores in the other order: the source reads are what must stay in order."""
    body = (Read("z", 1, "x", "q"), *between, Read("w", 1, "y", "q"))
    return ranks(body, (Store("y", 1), Store("x", 1)), unordered=unordered)


def puts_of_sources(unordered: bool = False) -> Program:
    """Two puts whose source cells another rank updates in the other order."""
    body = (Write("x", 1, "z", "q"), Write("y", 1, "w", "q"))
    return ranks(body, (FetchAdd("r", 0, "y", 1), FetchAdd("r", 0, "x", 1)), unordered=unordered)


def polling(turns: Statement) -> Program:
    """A put, then a get in the same queue that shows it has arrived: z is 1 everywhere, and w is polled."""
    return ranks((Write("z", 1, "x", "q"), Read("w", 1, "z", "q"), turns), ())


def failed_compare_swap(access: Statement) -> Program:
    """Rank 0 puts x and loads y; rank 1 accesses the y of rank 0 and loads x."""
    return ranks((Write("z", 1, "x", "q"), Load("r", "y")), (access, Load("s", "x")))


LITMUS: dict[str, tuple[Program, str]] = {
    "1to1": (one_to_one(), ONE),
    "1to1, wait": (one_to_one(Wait("q")), ZERO),
    "1to1, wait_local": (one_to_one(WaitLocal("q")), ONE),
    "store buffering": (store_buffering((), ()), ONE),
    "store buffering, one wait": (store_buffering((Wait("q"),), ()), ONE),
    "store buffering, waits": (store_buffering((Wait("q"),), (Wait("q"),)), ZERO),
    "store buffering, waits on another queue": (store_buffering((Wait("p"),), (Wait("p"),)), ONE),
    "store buffering, wait_locals": (store_buffering((WaitLocal("q"),), (WaitLocal("q"),)), ONE),
    "store buffering, fences": (store_buffering((Fence("q"),), (Fence("q"),)), ONE),
    "message": (message(), ZERO),
    "message, two fifo queues": (message(flag_queue="p"), ONE),
    "message, two fifo queues, fence of the first": (message(Fence("q"), flag_queue="p"), ONE),
    "message, two fifo queues, wait": (message(Wait("q"), flag_queue="p"), ZERO),
    "message, undeclared queue": (message(flag_queue=op("+", "p", 1)), ONE),
    "message, unordered": (message(unordered=True), ONE),
    "message, unordered, fence": (message(Fence("q"), unordered=True), ZERO),
    "message, unordered, fence to the rank": (message(Fence("q", 1), unordered=True), ZERO),
    "message, unordered, fence to another": (message(Fence("q", 0), unordered=True), ONE),
    "message, unordered, fence of another queue": (message(Fence("p"), unordered=True), ONE),
    "message, unordered, wait": (message(Wait("q"), unordered=True), ZERO),
    "message, unordered, wait_local": (message(WaitLocal("q"), unordered=True), ONE),
    "message apart": (message_apart(), ZERO),
    "message apart, unordered, fence": (message_apart(Fence("q"), unordered=True), ONE),
    "gets": (gets(), ZERO),
    "gets, unordered": (gets(unordered=True), ONE),
    "gets, unordered, fence": (gets(Fence("q"), unordered=True), ONE),
    "gets, unordered, wait_local": (gets(WaitLocal("q"), unordered=True), ZERO),
    "puts of sources": (puts_of_sources(), ZERO),
    "puts of sources, unordered": (puts_of_sources(unordered=True), ONE),
    "source reused": (ranks((Write("x", 1, "y", "q"), Store("x", 2)), ()), ONE),
    "source reused, wait_local": (ranks((Write("x", 1, "y", "q"), WaitLocal("q"), Store("x", 2)), ()), ZERO),
    "get used": (ranks((Read("x", 1, "y", "q"), Load("r", "x")), ()), ONE),
    "get used, wait_local": (ranks((Read("x", 1, "y", "q"), WaitLocal("q"), Load("r", "x")), ()), ZERO),
    # an edge from a command to itself is no violation, but two such commands make a cycle of two
    "self loop": (ranks((Write("x", "me", "x", "q"),)), ZERO),
    "self loop, twice": (ranks((Write("x", "me", "x", "q"), Write("x", "me", "x", "q"))), ONE),
    "self loop, wait": (ranks((Write("x", "me", "x", "q"), Wait("q"), Write("x", "me", "x", "q"))), ZERO),
    "barriers": (ranks((Barrier(), Barrier()), (Barrier(), Barrier())), ZERO),
    # a failed compare_swap counts as a write, an await as a read
    "failed compare_swap": (failed_compare_swap(CompareSwap("r", 0, "y", 5, 6)), ONE),
    "get instead": (failed_compare_swap(Read("w", 0, "y", "p")), ZERO),
    "await instead": (
        ranks((Write("z", 1, "x", "q"), FetchAdd("r", 1, "y", 0)), (Await("y", "==", 0), Load("s", "x"))), ONE
    ),
    # with polling the stale poll is itself a cycle; waiting is a primitive (the design: section 2)
    "polling": (polling(Loop((Load("r", "w"),))), ONE),
    "polling until it shows": (polling(While(op("==", "r", 0), (Load("r", "w"),))), ONE),
    "waiting": (polling(Wait("q")), ZERO),
    "loop, wait": (ranks((Loop((Write("z", 1, "x", "q"), Wait("q"))),), (Loop((Load("r", "x"),)),)), ZERO),
    "loop": (ranks((Loop((Write("z", 1, "x", "q"),)),), (Loop((Load("r", "x"),)),)), "unknown"),
}  # fmt: skip
