"""Locks of the threads of a rank: a cell each, which holds 1 while a thread has the lock."""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Look, Outcome
from pgasrob.frontends.c.libc.library_calls import machine_of
from pgasrob.frontends.c.values import Address
from pgasrob.program.commands import AwaitAdd, CompareSwap, Store
from pgasrob.program.expressions import Binary, Const, Expr
from pgasrob.program.illegal_calls import Rule

LOCKS = "C.locks"
"""Key in `State.notes` of the locks that a thread holds, in the order of their addresses."""
FREE, SET = Const(0), Const(1)


def address_of(call: Call, index: int = 0) -> Address:
    """Where the lock in that argument lies."""
    at = call.pointer(index)
    if at is None or not isinstance(at.offset, int):
        call.fail(Wrong.UNKNOWN_LIMIT, "a lock whose address is not known here", "pass the address of a variable")
    return at


def cell_of(call: Call, at: Address, *more: int | str) -> Expr:
    """The cell of a lock; or another one of what lies there, as ``more`` says."""
    machine, number = machine_of(call).machine, at.object.number
    name = machine.facts.expression(at.object, cast(int, at.offset)) if at.object in machine.facts.objects else None
    key = number if isinstance(number, tuple) else (number,)
    return machine.threads.cell(*(more or ("lock",)), name or "", at.object.kind, *key, cast(int, at.offset))


def held(steps: Steps) -> tuple[Address, ...]:
    """The locks that the thread holds."""
    return cast("tuple[Address, ...]", steps.recall(LOCKS, ()))


def take(call: Call, twice: Rule) -> Outcome:
    """Wait for the lock, and take it."""
    steps, at = Steps(call), address_of(call)
    if at in held(steps):
        steps.illegal(twice, f"`{call.name}` of a lock that this thread has set already: it waits for itself")
    steps.do(AwaitAdd(call.me, cell_of(call, at), "==", FREE, SET))
    note(steps, at, holds=True)
    return steps.outcome(0)


def give_back(call: Call, not_held: Rule) -> Outcome:
    steps, at = Steps(call), address_of(call)
    if at not in held(steps):
        steps.illegal(not_held, f"`{call.name}` of a lock that this thread has not set")
    else:
        steps.do(Store(cell_of(call, at), FREE))
        note(steps, at, holds=False)
    return steps.outcome(0)


def try_to_take(call: Call, success: int, failure: int) -> Look:
    """Take the lock if nobody has it."""
    steps, at, register = Steps(call), address_of(call), call.register("was_set")
    steps.do(CompareSwap(register, call.me, cell_of(call, at), FREE, SET))
    got = Steps(call)
    note(got, at, holds=True)
    return steps.look(Binary("==", register, FREE), got.outcome(success), Steps(call).outcome(failure))


def note(steps: Steps, at: Address, *, holds: bool) -> None:
    """Nothing is noted where no lock is held, so that ways come together again."""
    now = {*held(steps), at} if holds else {*held(steps)} - {at}
    steps.note(LOCKS, tuple(sorted(now, key=repr)) or None)
