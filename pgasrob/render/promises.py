"""What a command guarantees when its rank continues, and what it does not: a sentence or two each.

They say what the definition of the command does (`program.commands`), so that of a call of C they are what the call
was read as. Queues of C programs are those that its front end has made, so their names are not said: the calls are that
use them.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from pgasrob.program.commands import (
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Barrier,
    Bundle,
    Command,
    CompareSwap,
    Exit,
    FailedCompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Notify,
    Put,
    Read,
    Signal,
    Store,
    Swap,
    TestedAdd,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    Write,
)
from pgasrob.program.declarations import Queue
from pgasrob.program.expressions import Const, Expr, Symbol, render
from pgasrob.program.program import Program

LATER = "some time later"


class Calls(NamedTuple):
    """The calls of a C program that have to do with the queue of a command: the ``operations`` in it, with a verb, and
    what ``completes`` them at their ``target``."""

    operations: str = "all earlier operations of this rank that the call waits for are"
    completes: str = ""
    target: str = "its target"


def promise(command: Command, program: Program, calls: Calls | None = None) -> str:
    """The sentences on what ``command`` of ``program`` guarantees; ``calls``: for a C program."""
    if calls is not None:
        return _in_c(command, program, calls)
    match command:
        case Load(rank=rank):
            return f"Reads memory of {_whose(rank)} at once."
        case Store(rank=rank):
            return f"Writes memory of {_whose(rank)} at once."
        case Assign():
            return "Sets a register, which no other rank sees."
        case Assume():
            return "Only runs in which the condition holds continue."
        case Assert():
            return "Claims that the condition holds."
        case Read(queue=queue):
            get = "Starts a get and continues: the source is read, and the value arrives here, some time later"
            return f"{get}; a wait for local completion says when. {_order(queue, program)}"
        case Write(queue=queue):
            put = "Starts a put and continues: its source is read some time later, and may not change before a wait for"
            return f"{put} local completion; the value arrives {LATER}. {_order(queue, program)}"
        case Put(queue=queue):
            put = f"Starts a put and continues once its source is read: the value arrives {LATER}."
            return f"{put} {_order(queue, program)}"
        case Update(result=result, located=located, queue=queue):
            return _atomic("", result, located, queue, program)
        case UpdateFrom(result=result, located=located, queue=queue):
            return _atomic(" Its operand is read some time later, too.", result, located, queue, program)
        case Notify(everywhere=everywhere, queue=queue):
            which = "any queue" if everywhere else _queue(queue, program)
            after = f"all earlier puts to that rank in {which} have arrived"
            return f"Changes a cell of the target {LATER}, after {after}. Later puts are not ordered after it."
        case Bundle():
            return "Begins the operations that the next signal comes after."
        case Signal():
            return f"Changes a cell of the target {LATER}, after all operations since the bundle began are complete."
        case Barrier():
            return "Waits until all its ranks have come here. It completes and orders no operation by itself."
        case Exit():
            return "The run may end here for all ranks."
        case Wait(queue):
            return f"Waits until {_earlier(queue, program)} are complete here and at their targets."
        case WaitLocal(queue):
            done = f"Waits until {_earlier(queue, program)} are complete here: sources have been read, and"
            return f"{done} what was fetched has arrived. Puts may not have arrived at their targets."
        case Fence(queue, rank):
            whom = "each rank, by itself" if rank is None else f"rank {render(rank)}"
            puts = f"Orders earlier puts of this rank in {_queue(queue, program)} before later ones, to {whom}"
            return f"{puts}. It waits for nothing, and gets are not ordered."
        case Await():
            return "Waits until the cell here satisfies the comparison."
        case AwaitAdd():
            return "Waits until the cell satisfies the comparison, and adds to it at once."
        case Fetch() | FetchAdd() | FetchUpdate() | Swap() | CompareSwap() | FailedCompareSwap() | TestedAdd():
            return "An atomic that happens at once, and gives the old value. Earlier operations may still be under way."
        case _:
            assert_never(command)


def _in_c(command: Command, program: Program, calls: Calls) -> str:
    """As `promise`, of a command that a call of a C program has been read as."""
    not_yet = f"it is not yet complete at {calls.target}"
    match command:
        case Load(rank=rank) | Store(rank=rank):
            verb = "Reads" if isinstance(command, Load) else "Writes"
            whose = "its own node" if rank is None else f"{_named(rank, 'another rank')}, which it shares,"
            return f"{verb} memory of {whose} at once."
        case Read():
            get = "Starts a get and continues: the source is read, and the value arrives here, some time later."
            return f"{get}{_open('its value has not arrived', calls)}"
        case Write():
            put = "Starts a put and continues: its source is read some time later, and may not change before that."
            return f"{put}{_open(not_yet, calls)}"
        case Put():
            return f"Starts a put and continues once its source is read.{_open(not_yet, calls)}"
        case Update(result=result) | UpdateFrom(result=result):
            fetched = "" if result is None else " The old value arrives here some time after that."
            return f"Starts an atomic and continues: the cell changes {LATER}.{fetched}{_open(not_yet, calls)}"
        case Notify():
            puts = "after earlier puts to that rank have arrived"
            return f"Changes a cell of the target {LATER}, {puts}. Later puts are not ordered after it."
        case Wait():
            return f"Waits until {calls.operations} complete here and at the target."
        case WaitLocal():
            return (
                f"Waits until {calls.operations} complete here: sources have been read, and what was "
                "fetched has arrived. Puts may not have arrived at the target."
            )
        case Fence(rank=rank):
            whom = "each rank, by itself" if rank is None else _named(rank, "one rank")
            puts = f"Orders earlier puts of this rank before later ones, to {whom}."
            return f"{puts} It waits for nothing, and gets are not ordered."
        case _:
            return promise(command, program)


def _named(rank: Expr, otherwise: str) -> str:
    return f"rank {rank.value}" if isinstance(rank, Const) else otherwise


def _open(what: str, calls: Calls) -> str:
    """The sentence on what is open when the call returns, and what completes it."""
    return f" When the call returns, {what}{f'; {calls.completes}' if calls.completes else ''}."


def _whose(rank: Expr | None) -> str:
    return "its own node" if rank is None else f"rank {render(rank)}, which it shares,"


def _earlier(queue: Expr, program: Program) -> str:
    return f"all earlier operations of this rank in {_queue(queue, program)}"


def _queue(queue: Expr, program: Program) -> str:
    declared = _declared(queue, program)
    return f"queue {declared.name if declared else render(queue)}"


def _order(queue: Expr, program: Program) -> str:
    """The sentence on how an operation in ``queue`` is ordered."""
    name, declared = _queue(queue, program), _declared(queue, program)
    if declared is None:
        return f"It is in {name}."
    if declared.unordered:
        return f"Others in {name} may overtake it."
    return f"Operations in {name} read, and write, in the order of issue; others may overtake it."


def _declared(queue: Expr, program: Program) -> Queue | None:
    """The queue that ``expr`` names, where that is known."""
    match queue:
        case Const(id):
            return next((each for each in program.queues if each.id == id), None)
        case Symbol(name):
            return next((each for each in program.queues if each.name == name), None)
        case _:
            return None


def _atomic(operand: str, result: Expr | None, located: bool, queue: Expr, program: Program) -> str:
    old = "" if result is None else " The old value arrives here some time after that."
    order = " It comes after earlier ones of this rank to the same cell." if located else ""
    begun = f"Starts an atomic and continues: the cell changes {LATER}.{operand}{old}{order}"
    return f"{begun} {_order(queue, program)}"
