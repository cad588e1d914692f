"""Operations: the chains of steps that a rank has issued, and what orders the steps (the design: section 2).

A read, a write, a captured put and the deferred atomics are all one thing here: up to four steps, in the order popa,
popd, popb, popc. popa and popd read operands, popb updates the destination (or sets it: a copy), popc writes what the
destination held, or what popa fetched, to a cell of the rank's own. An operand that no step reads was captured at the
issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .expressions import wrap
from .syntax import Fence, Notify, Put, Read, Signal, Statement, Update, UpdateFrom, Write, event_name

Place = tuple[int, int]  # rank and address
STEPS = ("popa", "popd", "popb", "popc")  # in the order of a chain
READING = frozenset({"popa", "popd"})
WRITING = frozenset({"popb", "popc"})
STAGE = {"popa": 0, "popd": 0, "popb": 1, "popc": 2}  # steps of one stage stay in order in a FIFO queue
FENCED = frozenset({"write", "put", "update", "update_from", "signal"})  # their popb is a destination write


@dataclass(frozen=True, slots=True)
class Operation:
    """What a rank has issued: everything that the rules for steps may ask about it. Without steps `chain` is empty."""

    kind: str
    queue: int | None = None  # of an operation or a fence
    target: int | None = None  # the remote rank of an operation, the rank of a fence that names one
    chain: tuple[tuple[str, Place], ...] = ()  # its steps in order, each with the cell that it accesses
    update: str = "set"  # what popb does with the cell
    value: int | None = None  # a captured operand; None: popa reads it
    expected: int | None = None  # a captured expected value of a compare_swap; None: popd reads it
    located: bool = False  # in order with the rank's other such operations on the same cell
    everywhere: bool = False  # a notification of every queue
    line: int = 0

    @property
    def steps(self) -> tuple[str, ...]:
        return tuple(step for step, _ in self.chain)

    @property
    def at_target(self) -> tuple[str, Place]:
        """The step that accesses the remote cell, and that cell."""
        remote = "popa" if self.kind == "read" or self.update == "fetch" else "popb"
        return next((step, place) for step, place in self.chain if step == remote)

    @property
    def local_steps(self) -> tuple[str, ...]:
        """What wait_local waits for: sources here have been read, gets and results have arrived."""
        match self.kind:
            case "read":
                return ("popb",)
            case "update_from" if self.update == "fetch":
                return ("popc",)
        return tuple(step for step in self.steps if step != "popb")


def issued(command: Statement, rank: int, values: dict[str, int], captured: int | None = None) -> Operation:
    """The operation of `command`, whose operands have `values`; `captured` is what a put has read at its issue."""
    kind, line = event_name(command), command.line
    if isinstance(command, Fence):
        return Operation(kind, values["queue"], values.get("rank"), line=line)
    if not isinstance(command, Read | Write | Put | Update | UpdateFrom | Notify | Signal):
        return Operation(kind, line=line)
    there = (values["rank"], values["remote"])
    here = {name: (rank, values[name]) for name in ("local", "expected", "result") if name in values}
    update, value, expected = getattr(command, "operation", "set"), values.get("value", captured), None
    cells: dict[str, Place | None]
    match command:
        case Read():
            cells = {"popa": there, "popb": here["local"]}
        case Write():
            cells = {"popa": here["local"], "popb": there}
        case Put() | Notify() | Signal():
            cells = {"popb": there}
        case Update():
            expected = values.get("expected")
            cells = {"popb": there, "popc": here.get("result")}
        case UpdateFrom(operation="fetch"):
            cells = {"popa": there, "popc": here["result"]}
        case UpdateFrom():
            cells = {
                "popa": here["local"], "popd": here.get("expected"), "popb": there, "popc": here.get("result")
            }  # fmt: skip
    chain = tuple((step, place) for step, place in cells.items() if place is not None)
    located, everywhere = getattr(command, "located", False), getattr(command, "everywhere", False)
    return Operation(
        kind, values["queue"], values["rank"], chain, update, value, expected, located, everywhere, line
    )  # fmt: skip


def updated(update: str, old: int, operand: int, expected: int | None = None) -> int:
    """The cell after `update` of the value `old`."""
    match update:
        case "set":
            return operand
        case "add":
            return wrap(old + operand)
        case "mul":
            return wrap(old * operand)
        case "and":
            return old & operand
        case "or":
            return old | operand
        case "xor":
            return old ^ operand
        case "min":
            return min(old, operand)
        case "max":
            return max(old, operand)
        case "compare_swap":
            return operand if old == expected else old
    raise ValueError(f"no update: {update}")


def must_precede(
    operations: tuple[Operation, ...], earlier: int, step: str, later: int, following: str, unordered: bool
) -> bool:
    """Whether `step` of `earlier` must have happened before `following` of `later`, both issued by one rank.

    `unordered` tells about the queue of `earlier`.
    """
    first, second = operations[earlier], operations[later]
    between = operations[earlier + 1 : later]
    return (
        _in_order(first, step, second, following, unordered)
        or _fenced_apart(first, step, second, following, between)
        or _notified(first, step, second)
        or _signalled(second, between)
        or _located(first, step, second, following)
    )


def _in_order(first: Operation, step: str, second: Operation, following: str, unordered: bool) -> bool:
    """FIFO: by stages, whatever the target."""
    return not unordered and first.queue == second.queue and STAGE[step] == STAGE[following]


def _is_fenced(operation: Operation, step: str) -> bool:
    return operation.kind in FENCED and step == "popb"


def _fenced_apart(
    first: Operation, step: str, second: Operation, following: str, between: tuple[Operation, ...]
) -> bool:
    """A fence orders the destination writes to one rank in its queue; reads are not ordered, nor notifications."""
    return (
        _is_fenced(first, step)
        and _is_fenced(second, following)
        and (first.queue, first.target) == (second.queue, second.target)
        and any(
            fence.kind == "fence" and fence.queue == first.queue and fence.target in (None, first.target)
            for fence in between
        )
    )


def _notified(first: Operation, step: str, second: Operation) -> bool:
    """A notification comes after the destination writes to its rank, of its queue or of every queue."""
    return (
        second.kind == "notify"
        and _is_fenced(first, step)
        and first.target == second.target
        and (second.everywhere or first.queue == second.queue)
    )


def _signalled(second: Operation, between: tuple[Operation, ...]) -> bool:
    """A signal comes after all steps of its bundle: of what was issued since the latest `bundle`, if there is one."""
    return second.kind == "signal" and not any(operation.kind == "bundle" for operation in between)


def _located(first: Operation, step: str, second: Operation, following: str) -> bool:
    """Located operations access a cell in program order, whatever their queues."""
    if not (first.located and second.located):
        return False
    at_first, at_second = first.at_target, second.at_target
    return step == at_first[0] and following == at_second[0] and at_first[1] == at_second[1]


def local_marks(operations: tuple[Operation, ...]) -> Iterator[tuple[str, int | None, int | None]]:
    """The commands without steps that may order the steps around them: fences and bundles."""
    for operation in operations:
        if operation.kind in ("fence", "bundle"):
            yield operation.kind, operation.queue, operation.target
