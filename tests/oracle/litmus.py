"""Small named programs, each with the verdict that the design's text gives it, and why. One idea a pair."""

from __future__ import annotations

from .expressions import Expr, op
from .syntax import (
    Assert,
    Assign,
    Await,
    AwaitAdd,
    Barrier,
    Block,
    Bundle,
    Cell,
    Choose,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    If,
    Load,
    Loop,
    Notify,
    Process,
    Program,
    Put,
    Queue,
    Read,
    Signal,
    Statement,
    Store,
    Update,
    UpdateFrom,
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


def compared_and_swapped(access: Statement) -> Program:
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
    "compare_swap": (compared_and_swapped(CompareSwap("r", 0, "y", 0, 6)), ONE),
    "get instead": (compared_and_swapped(Read("w", 0, "y", "p")), ZERO),
    "await instead": (
        ranks((Write("z", 1, "x", "q"), FetchAdd("r", 1, "y", 0)), (Await("y", "==", 0), Load("s", "x"))), ONE
    ),
    # waiting is a primitive (the design: section 2); polling is in POLLS
    "waiting": (polling(Wait("q")), ZERO),
    "loop, wait": (ranks((Loop((Write("z", 1, "x", "q"), Wait("q"))),), (Loop((Load("r", "x"),)),)), ZERO),
    "loop": (ranks((Loop((Write("z", 1, "x", "q"),)),), (Loop((Load("r", "x"),)),)), "unknown"),
}  # fmt: skip


# The extended calculus

PUT = Write("z", 1, "x", "q")  # the data of a message: z is 1 everywhere
ARRIVAL = (Await("y", "!=", 0), Load("r", "x"))


def flagged(*sender: Statement, receiver: Block = ARRIVAL, unordered: bool = True) -> Program:
    """Rank 0 sends something to x and y of rank 1, which waits for y and then looks at x."""
    return ranks(sender, receiver, unordered=unordered)


def flagged_apart(*sender: Statement) -> Program:
    """As `flagged`, but rank 2 waits for its y and then looks at the x of rank 1."""
    return ranks(sender, (), (Await("y", "!=", 0), Fetch("r", 1, "x")), unordered=True)


def notify(cell: str = "y", queue: str = "q", rank: int = 1, everywhere: bool = False) -> Notify:
    return Notify("set", 1, rank, cell, queue, everywhere)


def signal(cell: str = "y", queue: str = "q", rank: int = 1) -> Signal:
    return Signal("add", 1, rank, cell, queue)


def add(cell: str, result: str | None = None, located: bool = False, queue: str = "q") -> Update:
    return Update("add", 1, 1, cell, queue, result, located=located)


def swap(cell: str, located: bool = False, queue: str = "q") -> Update:
    return Update("set", 1, 1, cell, queue, located=located)


def fetched(cell: str, result: str = "w", located: bool = False, queue: str = "q") -> UpdateFrom:
    return UpdateFrom("fetch", None, 1, cell, queue, result, located=located)


def one_to_one_by(operation: Statement, *between: Statement) -> Program:
    """As `one_to_one`: something for the y of the right neighbour, who looks at it after a barrier."""
    return Program((Process((operation, *between, Barrier(), Load("r", "y"))),), 2, CELLS)


def critical(*between: Statement) -> Program:
    """Both ranks take a lock by an await_add, access the x of rank 0, and give the lock back."""
    release = FetchUpdate("set", "s", 0, "y", 0)
    take = AwaitAdd(0, "y", "==", 0, 1)
    return ranks((take, Fetch("r", 0, "x"), release), (take, Write("z", 0, "x", "q"), *between, release))


def alone(*body: Statement, unordered: bool = False) -> Program:
    """Rank 0 runs `body`; rank 1 does nothing."""
    return ranks(body, (), unordered=unordered)


COMPARE = UpdateFrom("compare_swap", "z", 1, "y", "q", expected="x")
EXPECTING = UpdateFrom("compare_swap", "w", 1, "y", "q", expected="x")
MULTIPLY = Update("mul", 3, RIGHT, "y", "q")

EXTENDED: dict[str, tuple[Program, str]] = {
    # a captured put has read its source, but has not arrived
    "put, source reused": (alone(Put("x", 1, "y", "q"), Store("x", 2)), ZERO),
    "put, 1to1, wait_local": (one_to_one_by(Put("z", RIGHT, "y", "q"), WaitLocal("q")), ONE),
    "put, 1to1, wait": (one_to_one_by(Put("z", RIGHT, "y", "q"), Wait("q")), ZERO),
    "put, fence, put": (flagged(Put("z", 1, "x", "q"), Fence("q"), Put("z", 1, "y", "q")), ZERO),
    "put, put": (flagged(Put("z", 1, "x", "q"), Put("z", 1, "y", "q")), ONE),
    "put, put, fifo": (flagged(Put("z", 1, "x", "q"), Put("z", 1, "y", "q"), unordered=False), ZERO),
    # a notification comes after writes of its queue to its rank, or of every queue
    "notify": (flagged(PUT, notify()), ZERO),
    "notify, another queue": (flagged(PUT, notify(queue="p")), ONE),
    "notify, everywhere": (flagged(PUT, notify(queue="p", everywhere=True)), ZERO),
    "notify, everywhere, another rank": (flagged_apart(PUT, notify(rank=2, everywhere=True)), ONE),
    "notify after a put": (flagged(Put("z", 1, "x", "q"), notify()), ZERO),
    "notify after an update": (flagged(add("x"), notify()), ZERO),
    "notify after a signal": (flagged(signal("x"), notify()), ZERO),
    "notify after a notification": (flagged(notify("x"), notify()), ONE),
    "notify after a notification, fifo": (flagged(notify("x"), notify(), unordered=False), ZERO),
    "notify after a get": (flagged(Read("w", 1, "x", "q"), notify(), receiver=(ARRIVAL[0], Store("x", 1))), ONE),
    "notify before a write": (flagged(notify("x"), Write("z", 1, "y", "q")), ONE),
    "notify before a write, fence": (flagged(notify("x"), Fence("q"), Write("z", 1, "y", "q")), ONE),
    "notify before a write, wait": (flagged(notify("x"), Wait("q"), Write("z", 1, "y", "q")), ZERO),
    "notify before a write, wait_local": (flagged(notify("x"), WaitLocal("q"), Write("z", 1, "y", "q")), ONE),
    "notify before a write, fifo": (flagged(notify("x"), Write("z", 1, "y", "q"), unordered=False), ZERO),
    # a signal comes after all steps of its bundle
    "signal": (flagged(PUT, signal()), ZERO),
    "signal, its bundle": (flagged(Bundle(), PUT, signal()), ZERO),
    "signal, the next bundle": (flagged(PUT, Bundle(), signal()), ONE),
    "signal, the next bundle, fence": (flagged(PUT, Fence("q"), Bundle(), signal()), ZERO),
    "signal, another queue": (flagged(PUT, signal(queue="p")), ZERO),
    "signal, another rank": (flagged_apart(PUT, signal(rank=2)), ZERO),
    "signal, another rank, the next bundle": (flagged_apart(PUT, Bundle(), signal(rank=2)), ONE),
    "signal after a get": (flagged(Read("w", 1, "x", "q"), signal(), receiver=(ARRIVAL[0], Store("x", 1))), ZERO),
    "signal after a notification": (flagged(notify("x"), signal()), ZERO),
    "signal after a signal": (flagged(Bundle(), signal("x"), signal()), ZERO),
    "signal of another bundle after a signal": (flagged(signal("x"), Bundle(), signal()), ONE),
    "signal after a result": (alone(add("x", "w"), signal(rank=0), Await("y", "!=", 0), Load("r", "w")), ZERO),
    "signal before a write": (flagged(signal("x"), Write("z", 1, "y", "q")), ONE),
    "signal before a write, fence": (flagged(signal("x"), Fence("q"), Write("z", 1, "y", "q")), ZERO),
    # deferred atomics: the source, the result and the target are done when they are done
    "update, 1to1": (one_to_one_by(MULTIPLY), ONE),
    "update, 1to1, wait_local": (one_to_one_by(MULTIPLY, WaitLocal("q")), ONE),
    "update, 1to1, wait": (one_to_one_by(MULTIPLY, Wait("q")), ZERO),
    "update, result used": (alone(add("x", "w"), Load("r", "w")), ONE),
    "update, result used, wait_local": (alone(add("x", "w"), WaitLocal("q"), Load("r", "w")), ZERO),
    "update, another's result used": (alone(add("x"), Load("r", "w")), ZERO),
    "update_from, source reused": (alone(UpdateFrom("add", "x", 1, "y", "q"), Store("x", 1)), ONE),
    "update_from, source reused, wait_local": (
        alone(UpdateFrom("add", "x", 1, "y", "q"), WaitLocal("q"), Store("x", 1)), ZERO
    ),
    "update_from, expected reused": (alone(COMPARE, Store("x", 1)), ONE),
    "update_from, expected reused, wait_local": (alone(COMPARE, WaitLocal("q"), Store("x", 1)), ZERO),
    "fetch, result used": (alone(fetched("x"), Load("r", "w")), ONE),
    "fetch, result used, wait_local": (alone(fetched("x"), WaitLocal("q"), Load("r", "w")), ZERO),
    "update, fence, update": (flagged(add("x"), Fence("q"), add("y")), ZERO),
    "update, update": (flagged(add("x"), add("y")), ONE),
    "update, update, fifo": (flagged(add("x"), add("y"), unordered=False), ZERO),
    # stages: the target is read by the fetch at stage 0 and updated at stage 1, results are of stage 2
    "update, fetch, fifo": (alone(add("x"), fetched("x")), ONE),
    "update, fetch, fifo, fence": (alone(add("x"), Fence("q"), fetched("x")), ONE),
    "update, fetch, fifo, wait": (alone(add("x"), Wait("q"), fetched("x")), ZERO),
    "two results, fifo": (alone(add("x", "w"), fetched("y")), ZERO),
    "two results": (alone(add("x", "w"), fetched("y"), unordered=True), ONE),
    "two operands": (ranks((COMPARE,), (FetchAdd("r", 0, "z", 1), FetchAdd("r", 0, "x", 1))), ONE),
    "two operands, the other order": (ranks((COMPARE,), (FetchAdd("r", 0, "x", 1), FetchAdd("r", 0, "z", 1))), ZERO),
    "expected before a source": (ranks((EXPECTING, PUT), (FetchAdd("r", 0, "z", 1), FetchAdd("r", 0, "x", 1))), ZERO),
    "expected before a source, two queues": (
        ranks((EXPECTING, Write("z", 1, "x", "p")), (FetchAdd("r", 0, "z", 1), FetchAdd("r", 0, "x", 1))), ONE
    ),
    # located atomics of one cell are in order
    "two atomics": (alone(swap("x"), swap("x"), unordered=True), ONE),
    "two atomics, located": (alone(swap("x", located=True), swap("x", located=True), unordered=True), ZERO),
    "two atomics, one located": (alone(swap("x", located=True), swap("x"), unordered=True), ONE),
    "two atomics, located, two queues": (alone(swap("x", located=True), swap("x", located=True, queue="p")), ZERO),
    "two atomics, located, two cells": (flagged(add("x", located=True), add("y", located=True)), ONE),
    "update, fetch, located": (alone(add("x", located=True), fetched("x", located=True), unordered=True), ZERO),
    "fetch, update, located": (alone(fetched("x", located=True), add("x", located=True), unordered=True), ZERO),
    "fetch, update": (alone(fetched("x"), add("x"), unordered=True), ONE),
    # blocking atomics
    "lock": (critical(), ONE),
    "lock, wait_local": (critical(WaitLocal("q")), ONE),
    "lock, wait": (critical(Wait("q")), ZERO),
    # loads and stores of another rank's memory
    "store buffering, loads of memory that is shared": (
        ranks((PUT, Load("r", "y", 0)), (Store("y", 1, 0), Load("s", "x"))), ONE
    ),
    "store buffering, loads and stores alone": (
        ranks((Store("x", 1, 1), Load("r", "y")), (Store("y", 1, 0), Load("s", "x"))), ZERO
    ),
    "message passing, a put and a store": (ranks((PUT, Store("y", 1, 1)), (Await("y", "!=", 0), Load("r", "x"))), ONE),
    "message passing, a put that is waited for and a store": (
        ranks((PUT, Wait("q"), Store("y", 1, 1)), (Await("y", "!=", 0), Load("r", "x"))), ZERO
    ),
    "a load is no write": (ranks((PUT, Load("r", "y", 0)), (Load("s", "y", 0), Load("s", "x"))), ZERO),
    # a fetch is no write
    "store buffering, fetch": (ranks((PUT, Fetch("r", 0, "y")), (Fetch("s", 0, "y"), Load("s", "x"))), ZERO),
    "store buffering, fetch_update": (
        ranks((PUT, Fetch("r", 0, "y")), (FetchUpdate("or", "s", 0, "y", 0), Load("s", "x"))), ONE
    ),
    "store buffering, await_add": (
        ranks((PUT, Fetch("r", 0, "y")), (AwaitAdd(0, "y", "<=", 0, 1), Load("s", "x"))), ONE
    ),
}  # fmt: skip


# Failed polls: verdicts when a failed read is none, and when it counts

LOOK, NOT_YET = Load("r", "w"), op("==", "r", 0)
AND_NOT_THE_OTHER = op("&&", NOT_YET, op("==", "s", 0))
POLL = While(NOT_YET, (LOOK,))
FLAG = Write("z", 1, "y", "q")
POLLED_ARRIVAL = (While(NOT_YET, (Load("r", "y"),)), Load("s", "x"))


def shadow(*turns: Statement) -> Program:
    """A get of a 1 into w, which is looked at: what looks too early is after the get and sees what was before it."""
    return ranks((Read("w", 1, "z", "q"), *turns), ())


POLLS: dict[str, tuple[Program, str, str]] = {
    "until it shows": (polling(POLL), ZERO, ONE),
    "into a register that nothing needs": (polling(Loop((LOOK,))), ZERO, ONE),
    "into a register that is needed": (shadow(Loop((LOOK,)), Store("x", "r")), ONE, ONE),
    "one look": (shadow(LOOK), ONE, ONE),
    "one look or none": (shadow(Choose(((LOOK,), ()))), ONE, ONE),
    "a look, then a loop": (shadow(LOOK, POLL), ZERO, ONE),
    "a look, then a loop, and what it saw": (shadow(LOOK, POLL, Store("x", "r")), ZERO, ONE),
    "of another rank": (ranks((PUT, While(NOT_YET, (Fetch("r", 1, "x"),))), ()), ZERO, ONE),
    "of another rank, which reads": (
        ranks((PUT, While(NOT_YET, (Fetch("r", 1, "x"),))), (Store("y", 1), Load("r", "x"))), ZERO, ONE
    ),
    # what is sent does not depend on how its arrival is waited for
    "message": (flagged(PUT, FLAG, receiver=POLLED_ARRIVAL, unordered=False), ZERO, ZERO),
    "message, unordered": (flagged(PUT, FLAG, receiver=POLLED_ARRIVAL), ONE, ONE),
    "counting": (shadow(While(op("&&", NOT_YET, op("<", "s", 2)), (LOOK, Assign("s", op("+", "s", 1))))), ONE, ONE),
    # the last test of a round fails for good; the first may be followed by success of the other
    "two tests, the stale one first": (shadow(While(AND_NOT_THE_OTHER, (LOOK, Load("s", "y")))), ONE, ONE),
    "two tests, the stale one last": (shadow(While(AND_NOT_THE_OTHER, (Load("s", "y"), LOOK))), ZERO, ONE),
    "one of two tests": (shadow(While(NOT_YET, (Choose(((LOOK,), (Load("r", "y"),))),))), ZERO, ONE),
    "looking about meanwhile": (shadow(While(NOT_YET, (LOOK, If(NOT_YET, (Load("s", "y"),))))), ZERO, ONE),
    "writing meanwhile": (shadow(While(NOT_YET, (LOOK, If(NOT_YET, (Store("y", 1),))))), ONE, ONE),
    "writing at last": (shadow(While(NOT_YET, (LOOK, If("r", (Store("y", 1),))))), ZERO, ONE),
    "waiting meanwhile": (shadow(While(NOT_YET, (Wait("p"), LOOK))), ZERO, ONE),
    "another poll meanwhile, which may go on for ever": (
        shadow(While(NOT_YET, (LOOK, If(NOT_YET, (While(op("==", "s", 0), (Load("s", "y"),)),))))), ONE, ONE
    ),
    "through another register": (
        shadow(While(op("==", "s", 0), (LOOK, Assign("s", op("!=", "r", 0))))), ZERO, ONE
    ),
    "a way out": (shadow(While(NOT_YET, (LOOK, Choose(((), (Assign("r", 1),)))))), ONE, ONE),
    # looking before waiting
    "a look, then a wait": (shadow(LOOK, If(NOT_YET, (Await("w", "!=", 0),))), ZERO, ONE),
    "a look, then a wait for something else": (shadow(LOOK, If(NOT_YET, (Await("y", "==", 0),))), ONE, ONE),
    "a look that is not forgotten, then a wait": (
        shadow(LOOK, If(NOT_YET, (Await("w", "!=", 0),)), Store("x", "r")), ONE, ONE
    ),
    "a look, a wait, and the same test again": (
        shadow(LOOK, If(NOT_YET, (Await("w", "!=", 0),)), If(NOT_YET, (Store("x", 1),))), ONE, ONE
    ),
    "a look for more than is waited for": (shadow(LOOK, If(op("!=", "r", 1), (Await("w", "!=", 0),))), ONE, ONE),
    "a look for less than is waited for": (shadow(LOOK, If(NOT_YET, (Await("w", "==", 1),))), ONE, ONE),
    "a look, a store, then a wait": (shadow(LOOK, If(NOT_YET, (Store("y", 1), Await("w", "!=", 0)))), ONE, ONE),
}  # fmt: skip


# Updates that commute: verdicts when equal ones are independent, and when they conflict


def twice(update: str, second: str | None = None, unordered: bool = True) -> Program:
    """Two updates of one cell, in any order."""
    return alone(Update(update, 1, 1, "x", "q"), Update(second or update, 1, 1, "x", "q"), unordered=unordered)


def histogram(*after: Statement) -> Program:
    """Both ranks add to two cells of rank 1, and rank 1 looks."""
    adds = (add("x"), add("y"))
    return ranks(adds, (add("y"), add("x"), *after), unordered=True)


def summed(*sender: Statement) -> Program:
    """Both ranks run `sender`, and rank 1 waits for a y of 2 and looks at x."""
    return ranks(sender, (*sender, Await("y", "==", 2), Load("r", "x")))


COMMUTING: dict[str, tuple[Program, str, str]] = {
    **{f"{name} twice": (twice(name), ZERO, ONE) for name in ("add", "and", "or", "xor", "min", "max")},
    **{f"{name} twice": (twice(name), ONE, ONE) for name in ("set", "mul")},
    "add and or": (twice("add", "or"), ONE, ONE),
    "min and max": (twice("min", "max"), ONE, ONE),
    "add twice, fifo": (twice("add", unordered=False), ZERO, ZERO),
    "one of two located": (alone(add("x", located=True), add("x"), unordered=True), ZERO, ONE),
    "what one was fetched": (alone(add("x", "w"), add("x"), unordered=True), ONE, ONE),
    "operands in memory": (
        alone(UpdateFrom("add", "z", 1, "x", "q"), UpdateFrom("add", "z", 1, "x", "q"), unordered=True), ZERO, ONE
    ),
    "notifications": (alone(*[Notify("add", 1, 1, "x", "q")] * 2, unordered=True), ZERO, ONE),
    "notifications that set": (alone(*[notify("x")] * 2, unordered=True), ONE, ONE),
    "signals": (alone(Bundle(), signal("x"), Bundle(), signal("x"), unordered=True), ZERO, ONE),
    "an update and a notification": (alone(Notify("add", 1, 1, "x", "q"), add("x"), unordered=True), ZERO, ONE),
    "an update and what fetches at once": (alone(add("x"), FetchAdd("r", 1, "x", 1)), ONE, ONE),
    "histogram": (histogram(), ZERO, ONE),
    "histogram, looked at": (histogram(Load("r", "x")), ONE, ONE),
    "histogram, looked at in the order of rank 0": (histogram(Wait("q"), Load("r", "x"), Load("r", "y")), ZERO, ONE),
    "histogram, looked at in the other order": (histogram(Wait("q"), Load("r", "y"), Load("r", "x")), ONE, ONE),
    # a read after two additions conflicts with both
    "read after two": (
        ranks((add("x"), Load("r", "y")), (Write("z", 0, "y", "q"), Load("r", "x")), (add("x"),)), ONE, ONE
    ),
    "wait for the sum": (summed(add("x"), Wait("q"), add("y")), ZERO, ZERO),
    "wait for the sum, two queues": (summed(add("x"), add("y", queue="p")), ONE, ONE),
}  # fmt: skip

WAITS: dict[str, tuple[Program, str, str]] = {
    "await": (
        ranks((Write("z", 1, "x", "q"), FetchAdd("r", 1, "y", 0)), (Await("y", "==", 0), Load("s", "x"))), ZERO, ONE
    ),
    # a compare_swap that fails at once is a read; one whose step compares is a write
    "failed compare_swap": (compared_and_swapped(CompareSwap("r", 0, "y", 5, 6)), ZERO, ONE),
    "failed compare_swap of a step": (
        compared_and_swapped(Update("compare_swap", 6, 0, "y", "p", expected=5)), ONE, ONE
    ),
    "failed compare_swap beside a put": (
        ranks((Write("z", 1, "x", "q"), CompareSwap("r", 1, "y", 5, 6)), (Store("y", 1), Load("r", "x"))), ONE, ONE
    ),
}  # fmt: skip
"""Programs with their verdicts where waits are read by condition, and by value."""
