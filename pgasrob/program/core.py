"""The core form of commands: the eight shapes to which all commands of the language are lowered.

`lower` is the only place that knows what a command does: what it accesses, in which steps, what orders these, what it
waits for. Syntax, the words of reports and the judge of witnesses (`semantics.replay`) know commands by their names;
everything else matches on shapes, exhaustively, so that a forgotten shape is a type error.

A shape is generic in what it is made of: `Form` has places and expressions, `Operands` has cells and values, which is
what the expressions are at the issue, where each is evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from functools import cache
from typing import Generic, Literal, NamedTuple, TypeVar, assert_never

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.expressions import INT32, Const, Expr, Fault, IntType, Register, evaluator, registers_of
from pgasrob.program.illegal_calls import Claim, Doubtful, Illegal
from pgasrob.program.value_classes import record

P = TypeVar("P")
"""Where an access is: a :class:`Place`, or a cell."""
Q = TypeVar("Q")
V = TypeVar("V")
"""A value, a rank or a queue: an expression, or a number."""

StepKind = Literal["popa", "popd", "popb", "popc"]

Cell = int
"""A cell of the flat memory of all nodes: ``rank * size + address``."""


EVERY_QUEUE = -1
"""Stands for all queues where something does not depend on the queue: bundles, located steps."""


class Place(NamedTuple):
    """The cell ``address`` at ``rank``; None: at the issuing rank itself."""

    address: Expr
    rank: Expr | None = None


class Access(NamedTuple, Generic[P]):
    """One access: to which cell, whether it reads, whether it writes (an atomic does both).

    ``commutes``: the kind of an update that gives the same result in whatever order updates of its kind are made, since
    none of them fetches a value in between. Empty for every other access. ``tests``: of an
    await that is a test of its condition the values that it may compare with (`program.conditional_waits`); then it
    reads no value. ``counts``: of a test that also adds what it adds; those that add the same conflict only where one
    of them turns a condition (`program.tested_adds`).
    """

    cell: P
    reads: bool
    writes: bool
    commutes: str = ""
    tests: tuple[int, ...] = ()
    counts: str = ""

    def at(self, cell: Q) -> Access[Q]:
        """The same access to another place."""
        return Access(cell, *self[1:])


class Comparison(NamedTuple, Generic[V]):
    """A condition on a cell: it compares to ``value`` by ``relation``, a symbol of `expressions.RELATIONS`."""

    relation: str
    value: V


COMMUTING = frozenset(("add", "and", "or", "xor", "min", "max"))
"""The operations on integers whose order does not matter to the value that a cell ends with."""

CHOOSING = frozenset(("set", "fetch", "compare_swap", "min", "max"))
"""The operations that leave in a cell either its old value or one of their operands."""


class Update(NamedTuple, Generic[V]):
    """What is done to a cell: one of :data:`~pgasrob.program.commands.UPDATES`, computed in ``type``.

    ``operand`` and ``expected`` (of a compare_swap) are None where the operation takes none, or where a step reads
    them.
    """

    operation: str
    operand: V | None = None
    expected: V | None = None
    type: IntType = INT32

    @property
    def reads(self) -> bool:
        """Whether what the cell held decides what it holds then."""
        return self.operation != "set"

    @property
    def kind(self) -> str:
        """The kind of update, where it commutes with those of its kind (:attr:`Access.commutes`)."""
        if self.operation not in COMMUTING:
            return ""
        return f"{self.operation} {'' if self.type.signed else 'u'}int{self.type.bits}"


class Until(NamedTuple):
    """The condition under which a poll succeeds: else the rank would only come back and read again (`program.polls`).

    ``holds`` is over the registers after the read. ``spins``: while it does not hold, the rank goes round a loop, and
    is not stuck. ``gathers``: it may go on to other flags meanwhile (`program.gathering`).
    """

    holds: Expr
    spins: bool
    gathers: bool = False

    def satisfied(self, registers: Sequence[int]) -> bool:
        """Whether the condition holds with these ``registers``, or faults."""
        try:
            return bool(_evaluator(self.holds)(registers))
        except Fault:
            return True  # the poll ends, and the rank faults where the program evaluates the condition


_evaluator = cache(evaluator)


class Step(NamedTuple, Generic[P]):
    """A step of a transfer; ``kind`` is the name of its event: popa reads the source, popd what a compare_swap expects,
    popb writes or updates the destination, popc writes the result.

    ``stage``: its place in the FIFO order, in which every stage of a queue is a queue of its own (the paper's fa and
    fb): 0 reads the source, 1 updates the destination, 2 writes a result. ``local``: wait_local waits for it.
    ``fenced``: fences order it, as the destination write of a put. ``after_writes``: it comes after the fenced steps to
    its target that are of earlier operations (a notification). ``after_bundle``: it comes after all steps of the
    rank's latest bundle (a signal). ``located``: it comes after the rank's earlier located steps to its cell.
    """

    kind: StepKind
    access: Access[P]
    stage: int
    local: bool = False
    fenced: bool = False
    after_writes: bool = False
    after_bundle: bool = False
    located: bool = False


# The shapes


@record
class Assign(Generic[V]):
    """Set the register with this number."""

    register: int
    value: V


@record
class Test(Generic[V]):
    """An assume, which ``blocks`` unless the condition holds, or an assert, which claims that it does.

    ``ends``: an assume that never holds, which stands for the end of the run of all ranks. ``claim``: of an assert that
    is no plain one of the program, what is so where it does not hold.
    """

    __test__ = False  # else pytest collects it

    condition: V
    blocks: bool
    ends: bool = False
    claim: Claim = None


@record
class Immediate(Generic[P, V]):
    """One event that accesses a cell at its issue: when the cell satisfies ``condition``, the register gets what it
    holds, and it is updated; each as far as there is one.

    ``until``: what the registers have to satisfy then, or the command is not enabled.
    """

    access: Access[P]
    condition: Comparison[V] | None = None
    update: Update[V] | None = None
    register: int | None = None
    until: Until | None = None

    @property
    def may_block(self) -> bool:
        """Whether the command is enabled for some values of the cell only."""
        return self.condition is not None or self.until is not None


@record
class Transfer(Generic[P, V]):
    """A command with steps, which happen in their order after its issue, at ``rank`` and at home.

    ``captured``: what it reads at its issue. ``update``: what popb does to the destination; None: it writes what has
    been read. ``everywhere``: ``after_writes`` is about the writes in every queue.
    """

    rank: V
    queue: V
    steps: tuple[Step[P], ...]
    captured: Access[P] | None = None
    update: Update[V] | None = None
    everywhere: bool = False


@record
class Wait(Generic[V]):
    """Enabled when the steps of the rank's earlier transfers in ``queue`` have happened, or only the ``local`` ones."""

    queue: V
    local: bool


@record
class Fence(Generic[V]):
    """Earlier fenced steps of ``queue`` to ``rank`` come before later ones; None: for each rank by itself."""

    queue: V
    rank: V | None


@record
class Bundle:
    """A bundle begins."""


@record
class Barrier:
    """One command of all ranks together, which each of them issues with this ``name``."""

    name: str = ""


Shape = Assign[V] | Test[V] | Immediate[P, V] | Transfer[P, V] | Wait[V] | Fence[V] | Bundle | Barrier
Form = Shape[Expr, Place]
"""A command as it is written."""
Operands = Shape[int, Cell]
"""A command with its expressions evaluated."""


MOST_FORMS = 10_000
_FORMS: dict[int, tuple[Command, Form]] = {}
"""The latest forms by the identity of their commands: a front end asks again and again for that of one command."""


def lower(command: Command) -> Form:
    """The core form of ``command``."""
    known = _FORMS.get(id(command))
    if known is not None:
        return known[1]
    if len(_FORMS) >= MOST_FORMS:
        _FORMS.clear()
    form = _lowered(command)
    _FORMS[id(command)] = command, form  # which keeps the command, so that no other one has its identity
    return form


def _lowered(command: Command) -> Form:
    match command:
        case commands.Assign(register, value):
            return Assign(register.index, value)
        case commands.Assume(condition):
            return Test(condition, blocks=True)
        case Illegal(condition, fact) | Doubtful(condition, fact):
            return Test(condition, blocks=False, claim=fact)
        case commands.Assert(condition):
            return Test(condition, blocks=False)
        case commands.Load(register, address, rank) | commands.Fetch(register, rank, address):
            return _immediate(Place(address, rank), register=register)
        case commands.Store(address, value, rank):
            return _immediate(Place(address, rank), update=Update("set", value))
        case commands.Await(address, relation, value):
            return _immediate(Place(address), condition=Comparison(relation, value))
        case commands.FetchAdd(register, rank, address, operand, type):
            return _immediate(Place(address, rank), update=Update("add", operand, type=type), register=register)
        case commands.FetchUpdate(operation, register, rank, address, operand, type):
            return _immediate(Place(address, rank), update=Update(operation, operand, type=type), register=register)
        case commands.Swap(register, rank, address, value):
            return _immediate(Place(address, rank), update=Update("set", value), register=register)
        case commands.CompareSwap(register, rank, address, expected, new):
            return _immediate(Place(address, rank), update=Update("compare_swap", new, expected), register=register)
        case commands.FailedCompareSwap(register, rank, address, expected):
            return _immediate(Place(address, rank), Comparison("!=", expected), register=register)
        case commands.TestedAdd(_, rank, address, relation, value, operand, type):
            return _immediate(Place(address, rank), Comparison(relation, value), Update("add", operand, type=type))
        case commands.AwaitAdd(rank, address, relation, value, operand, type):
            return _immediate(Place(address, rank), Comparison(relation, value), Update("add", operand, type=type))
        case commands.Read() | commands.Write() | commands.Put() | commands.Notify() | commands.Signal():
            return _lower_transfer(command)
        case commands.Update() | commands.UpdateFrom():
            return _lower_transfer(command)
        case commands.Wait(queue):
            return Wait(queue, local=False)
        case commands.WaitLocal(queue):
            return Wait(queue, local=True)
        case commands.Fence(queue, to):
            return Fence(queue, to)
        case commands.Bundle():
            return Bundle()
        case commands.Barrier(name):
            return Barrier(name)
        case commands.Exit():
            return Test(Const(0), blocks=True, ends=True)
        case _:
            assert_never(command)


Operation = (
    commands.Read | commands.Write | commands.Put | commands.Update | commands.UpdateFrom | commands.Notify
    | commands.Signal
)  # fmt: skip
"""The commands whose steps happen after their issue."""


def _lower_transfer(command: Operation) -> Transfer[Place, Expr]:
    match command:
        case commands.Read(local, rank, remote, queue):
            source, destination = Place(remote, rank), Place(local)
            return _transfer(rank, queue, _reads("popa", source), _writes("popb", destination, 1, local=True))
        case commands.Write(local, rank, remote, queue):
            source, destination = Place(local), Place(remote, rank)
            return _transfer(
                rank, queue, _reads("popa", source, local=True), _writes("popb", destination, 1, fenced=True)
            )
        case commands.Put(local, rank, remote, queue):
            captured = Access(Place(local), reads=True, writes=False)
            return _transfer(rank, queue, _writes("popb", Place(remote, rank), 1, fenced=True), captured=captured)
        case commands.Update("fetch", value, rank, remote, queue, result, _, located, type):
            # The operand is evaluated, so that it can fault, and not used.
            step = _reads("popa", Place(remote, rank), located=located)
            return _transfer(rank, queue, step, _result(result), update=Update("fetch", value, type=type))
        case commands.Update(operation, value, rank, remote, queue, result, expected, located, type):
            update = Update[Expr](operation, value, expected, type)
            step = _updates(update, Place(remote, rank), located=located, fenced=True, fetches=result is not None)
            return _transfer(rank, queue, step, _result(result), update=update)
        case commands.UpdateFrom("fetch", _, rank, remote, queue, result, _, located, type):
            # popa reads at the target, so it is not local: what wait_local waits for is the write of the result.
            step = _reads("popa", Place(remote, rank), located=located)
            return _transfer(rank, queue, step, _result(result), update=Update("fetch", type=type))
        case commands.UpdateFrom(operation, local, rank, remote, queue, result, expected, located, type):
            update = Update[Expr](operation, type=type)
            return _transfer(
                rank,
                queue,
                None if local is None else _reads("popa", Place(local), local=True),
                None if expected is None else _reads("popd", Place(expected), local=True),
                _updates(update, Place(remote, rank), located=located, fenced=True, fetches=result is not None),
                _result(result),
                update=update,
            )
        case commands.Notify(operation, value, rank, remote, queue, everywhere, type):
            update = Update[Expr](operation, value, type=type)
            step = _updates(update, Place(remote, rank), after_writes=True)
            return _transfer(rank, queue, step, update=update, everywhere=everywhere)
        case commands.Signal(operation, value, rank, remote, queue, type):
            update = Update[Expr](operation, value, type=type)
            step = _updates(update, Place(remote, rank), fenced=True, after_bundle=True)
            return _transfer(rank, queue, step, update=update)
        case _:
            assert_never(command)


def _immediate(
    place: Place,
    condition: Comparison[Expr] | None = None,
    update: Update[Expr] | None = None,
    register: Register | None = None,
) -> Immediate[Place, Expr]:
    reads = condition is not None or register is not None
    access = Access(place, reads, writes=update is not None)
    return Immediate(access, condition, update, None if register is None else register.index)


def _transfer(
    rank: Expr,
    queue: Expr,
    *steps: Step[Place] | None,
    captured: Access[Place] | None = None,
    update: Update[Expr] | None = None,
    everywhere: bool = False,
) -> Transfer[Place, Expr]:
    return Transfer(rank, queue, tuple(step for step in steps if step), captured, update, everywhere)


def _reads(kind: StepKind, place: Place, local: bool = False, located: bool = False) -> Step[Place]:
    return Step(kind, Access(place, reads=True, writes=False), 0, local=local, located=located)


def _writes(kind: StepKind, place: Place, stage: int, local: bool = False, fenced: bool = False) -> Step[Place]:
    return Step(kind, Access(place, reads=False, writes=True), stage, local=local, fenced=fenced)


def _updates(
    update: Update[Expr],
    place: Place,
    fenced: bool = False,
    after_writes: bool = False,
    after_bundle: bool = False,
    located: bool = False,
    fetches: bool = False,
) -> Step[Place]:
    access = Access(place, reads=update.reads, writes=True, commutes="" if fetches else update.kind)
    return Step("popb", access, 1, False, fenced, after_writes, after_bundle, located)


def _result(result: Expr | None) -> Step[Place] | None:
    return None if result is None else _writes("popc", Place(result), 2, local=True)


# Questions about a shape, whatever it is made of


def at_issue(shape: Shape[V, P]) -> Access[P] | None:
    """The access that a command makes at its issue."""
    match shape:
        case Immediate(access):
            return access
        case Transfer(captured=captured):
            return captured
        case Assign() | Test() | Wait() | Fence() | Bundle() | Barrier():
            return None
        case _:
            assert_never(shape)


def steps_of(shape: Shape[V, P]) -> tuple[Step[P], ...]:
    """The steps that a command has after its issue, in their order."""
    return shape.steps if isinstance(shape, Transfer) else ()


def accesses_of(shape: Shape[V, P]) -> tuple[Access[P], ...]:
    """All accesses of a command, in their order."""
    first = at_issue(shape)
    return (*(() if first is None else (first,)), *(step.access for step in steps_of(shape)))


def all_in_conflict(form: Form) -> Form:
    """``form`` with its updates in conflict with those of their own kind, as with all other accesses."""
    if not isinstance(form, Transfer):
        return form
    steps = tuple(step._replace(access=step.access._replace(commutes="")) for step in form.steps)
    return replace(form, steps=steps)


def observed(shape: Shape[V, P]) -> tuple[bool, ...]:
    """For each access of a command, in their order, whether it uses the value that the cell holds at that moment.

    Every read does, and so does a popb whose old value goes to a result.
    """
    steps = steps_of(shape)
    gives_result = any(step.kind == "popc" for step in steps)
    first = at_issue(shape)
    return (
        *(() if first is None else (first.reads,)),
        *(step.access.reads or (step.kind == "popb" and gives_result) for step in steps),
    )


def is_swap(form: Immediate[P, V]) -> bool:
    """Whether it is one of the two commands that a blocking compare_swap is read as (`program.failing_swaps`): which of
    them is issued depends on the cell, and both lead to the same."""
    update, condition = form.update, form.condition
    if condition is None or update is None:
        return condition is not None and form.register is not None
    return update.operation == "compare_swap" and condition == Comparison("==", update.expected)


def target(form: Form) -> Expr | None:
    """The rank that a command names, whose memory it may access or to which a fence orders writes."""
    match form:
        case Immediate(access):
            return access.cell.rank
        case Transfer(rank):
            return rank
        case Fence(_, to):
            return to
        case Assign() | Test() | Wait() | Bundle() | Barrier():
            return None
        case _:
            assert_never(form)


class Role(Enum):
    """What an expression of a command is for: an address, a rank, a queue, or a value."""

    ADDRESS = auto()
    RANK = auto()
    QUEUE = auto()
    VALUE = auto()


def expressions(form: Form) -> Iterator[tuple[Role, Expr]]:
    """The expressions of a command with their roles: addresses in the order of the accesses, rank, queue, values."""
    match form:
        case Assign(_, value):
            yield Role.VALUE, value
        case Test(condition):
            yield Role.VALUE, condition
        case Immediate(access, condition, update):
            yield Role.ADDRESS, access.cell.address
            if access.cell.rank is not None:
                yield Role.RANK, access.cell.rank
            if condition is not None:
                yield Role.VALUE, condition.value
            yield from _values(update)
        case Transfer(rank, queue, _, _, update):
            yield from ((Role.ADDRESS, access.cell.address) for access in accesses_of(form))
            yield Role.RANK, rank
            yield Role.QUEUE, queue
            yield from _values(update)
        case Wait(queue):
            yield Role.QUEUE, queue
        case Fence(queue, to):
            if to is not None:
                yield Role.RANK, to
            yield Role.QUEUE, queue
        case Bundle() | Barrier():
            return
        case _:
            assert_never(form)


def _values(update: Update[Expr] | None) -> Iterator[tuple[Role, Expr]]:
    if update is not None:
        yield from ((Role.VALUE, each) for each in (update.operand, update.expected) if each is not None)


def registers_read(form: Form) -> frozenset[int]:
    """The registers on which the effect of a command depends."""
    return registers_compared(form).union(*(registers_of(expr) for _, expr in expressions(form)))


def registers_compared(form: Form) -> frozenset[int]:
    """The registers with which a poll compares what it reads."""
    if not isinstance(form, Immediate) or form.until is None:
        return frozenset()
    return registers_of(form.until.holds) - {form.register}


def register_set(form: Form) -> int | None:
    """The number of the register that a command sets."""
    match form:
        case Assign(register) | Immediate(register=register):
            return register
        case Test() | Transfer() | Wait() | Fence() | Bundle() | Barrier():
            return None
        case _:
            assert_never(form)
