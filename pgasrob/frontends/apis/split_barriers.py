"""Split barriers: a rank arrives in one call and waits for the others in a later one, with anything in between.

The halves of one ``collective`` of a group belong to each other. Every member has flags for each other one, of which
several sets are used in turn, and which change between 0 and 1 from one use to the next. What a rank does between the
halves is ordered with nothing that others do between theirs, which a counter would not give. Where the number of ranks
is not known every rank has flags of its own only, and the others look there.
"""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group, cell_of, heard_from
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.program.commands import Assign, Await, AwaitAdd, Store
from pgasrob.program.expressions import Binary, Const, Expr
from pgasrob.program.statements import Block, While

SETS, MOST_OPEN, MOST_IN_LOOPS = 2, 128, 8
"""Sets of flags that are used in turn; and how many barriers of one collective may be open at once, also in loops
of which it is not known how often they are passed."""


def arrive(steps: Steps, group: Group, collective: str, sets: int = SETS, *, chosen: bool = False) -> int:
    """The first half of a split barrier: this rank arrives, and sets its flags for the others. The phase of the
    barrier, which numbers the uses of the ``sets``. ``chosen``: only those wait who have `chosen <await_arrival>` to,
    and the others need no flags, of which there would be one for each two ranks."""
    call = steps.call
    phase = steps.count(group.name(f"arrived.{collective}"), 2 * sets)
    again = phase >= sets
    if group.members is EVERYONE:
        steps.do(Store(cell_of(call, group, collective, "flag", phase % sets), Const(0 if again else 1)))
        return phase
    for member in call.noted(_awaited(group, collective)) if chosen else group.members:
        if member != call.rank:
            flag = _flag(call, group, collective, member, call.rank) if chosen else call.rank
            cell = cell_of(call, group, collective, "flag", phase % sets, flag)
            before, change = (1, -1) if again else (0, 1)
            steps.do(AwaitAdd(Const(member), cell, "==", Const(before), Const(change)))
    return phase


def depart(steps: Steps, group: Group, collective: str, phase: int | None = None, sets: int = SETS) -> None:
    """The second half of a split barrier: wait until all others have arrived in this ``phase``, by default the next."""
    heard_from(steps, group)
    if phase is None:
        phase = _phase(steps, group, collective)
        end_phase(steps, group, collective)
    if group.members is EVERYONE:
        _await_all(steps, group, collective, phase, sets)
        return
    for member in group.members:
        if member != steps.call.rank:
            cell = cell_of(steps.call, group, collective, "flag", phase % sets, member)
            steps.do(Await(cell, "==", Const(0 if phase >= sets else 1)))


def _await_all(steps: Steps, group: Group, collective: str, phase: int, sets: int) -> None:
    """Wait for all ranks, one after the other, this one too."""
    call = steps.call
    cell, rank = cell_of(call, group, collective, "flag", phase % sets), call.register("rank")
    each = call.do(
        AwaitAdd(rank, cell, "==", Const(0 if phase >= sets else 1), Const(0)),
        Assign(rank, Binary("+", rank, Const(1))),
    )
    steps.do(Assign(rank, Const(0)), While(Binary("<", rank, call.count), Block(each), call.span))


def _phase(steps: Steps, group: Group, collective: str) -> int:
    return cast(int, steps.recall(group.name(f"departed.{collective}"), 0))


def _awaited(group: Group, collective: str) -> str:
    """Under which key ranks note at another one that they wait for it."""
    return group.name(f"awaited.{collective}")


def _flag(call: Call, group: Group, collective: str, waiting: int, member: int) -> int:
    """The number of the flag of ``member`` among those that the rank ``waiting`` has chosen to wait for."""
    return call.noted_by(waiting, _awaited(group, collective)).index(member)


def await_arrival(steps: Steps, group: Group, collective: str, member: int | Expr, *, chosen: bool = False) -> None:
    """Wait until ``member`` has arrived, in the phase that lasts until `end_phase`. Where the number of ranks is not
    known the member may be an expression, and this rank itself, too. ``chosen``: as in `arrive`."""
    phase = _phase(steps, group, collective)
    if group.members is EVERYONE:
        rank = Const(member) if isinstance(member, int) else member
        own = cell_of(steps.call, group, collective, "flag", phase & 1)
        steps.do(AwaitAdd(rank, own, "==", Const(0 if phase & 2 else 1), Const(0)))
        return
    assert isinstance(member, int)
    flag = member
    if chosen:
        steps.call.note_at(member, _awaited(group, collective))
        flag = _flag(steps.call, group, collective, steps.call.rank, member)
    cell = cell_of(steps.call, group, collective, "flag", phase & 1, flag)
    steps.do(Await(cell, "==", Const(0 if phase & 2 else 1)))


def end_phase(steps: Steps, group: Group, collective: str) -> None:
    """The end of a phase, in which this rank waits for no more ranks. All ranks must have ended it before the next
    phase but one."""
    steps.count(group.name(f"departed.{collective}"), 2 * SETS)


# Several that are open at once


def begin(steps: Steps, group: Group, collective: str) -> int:
    """Arrive for the next split barrier of a ``collective`` of which several may be open at once, and be ended in any
    order. The phase of this one.

    Let no rank ever arrive at barrier k + P before its departure from barrier k. Who arrives at k + 2P has departed
    from k + P, at which all others have arrived, and so they have departed from k: with 2P sets of flags, and of
    whatever else a barrier has of its own, nobody misses what he waits for. Every rank publishes the least P for it.
    """
    call, sets = steps.call, sets_of(steps.call, group, collective)
    phase = arrive(steps, group, collective, sets)
    open = (*_open(steps, group, collective), phase)
    window = 1 + (phase - open[0]) % (2 * sets)
    most = MOST_IN_LOOPS if call.in_open_loop else MOST_OPEN
    if window > most:
        call.fail(Wrong.CALL_LIMIT, f"{call.name} with {most} others under way", "wait for the first of them before")
    key = group.name(f"window.{collective}")
    known = call.own_fact(key)
    call.publish(key, max(window, known if isinstance(known, int) else 1))
    steps.note(group.name(f"open.{collective}"), open)
    return phase


def next_phase(steps: Steps, group: Group, collective: str) -> int:
    """The phase of the barrier that this rank will begin next."""
    return cast(int, steps.recall(group.name(f"arrived.{collective}"), 0)) % (
        2 * sets_of(steps.call, group, collective)
    )


def end(steps: Steps, group: Group, collective: str, phase: int) -> None:
    """Wait until all have begun the barrier of this ``phase``, which `begin` gave."""
    depart(steps, group, collective, phase, sets_of(steps.call, group, collective))
    open = tuple(each for each in _open(steps, group, collective) if each != phase)
    steps.note(group.name(f"open.{collective}"), open or None)


def sets_of(call: Call, group: Group, collective: str) -> int:
    """How many sets of flags, and of other cells, the barriers of ``collective`` use in turn."""
    key = group.name(f"window.{collective}")
    if group.members is EVERYONE:
        known = call.all_facts(key)
    else:
        known = [call.published(member, key) for member in group.members]
    return SETS * max((each for each in known if isinstance(each, int)), default=1)


def _open(steps: Steps, group: Group, collective: str) -> tuple[int, ...]:
    """The phases that this rank has begun and not ended, the first ones first."""
    return cast("tuple[int, ...]", steps.recall(group.name(f"open.{collective}")) or ())
