"""GASNet's split-phase barrier: nothing outstanding is waited for.

Most programs wait as soon as they have notified. While all ranks of a program always do, the two halves are one barrier
of the calculus; a single one that does something in between lets it be two halves everywhere.

Barriers may have names. As long as no two that a program gives can differ these have no effect; else the ranks tell
each other, and a wait says whether they match.

The state of a rank: ``gasnet.notified``, the name of the notify that has not been waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.gasnet.header import ANONYMOUS, BARRIER_MISMATCH, MISMATCH, NOT_READY, OK
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.values import Known
from pgasrob.frontends.c.writer import LEFT_OPEN, UNDISTURBED
from pgasrob.program.commands import Fetch, Store
from pgasrob.program.expressions import Binary, Conditional, Const, Expr

PROTOTYPES = Prototypes()
BARRIER = "gasnet_barrier"
"""Its halves, and what is both at once."""
SPLIT = "gasnet.split"
"""The fact that something is between the halves, or that a rank ends behind the first one."""


def _everyone(call: Call) -> Group:
    return Group(("gasnet", "barrier"), call.everyone)


def _split(call: Call) -> bool:
    """Whether some rank does something between the halves."""
    return any(call.all_facts(SPLIT))


def _name(call: Call) -> int:
    """What the call says of its barrier: 0 for an anonymous one, 2 that it is to mismatch, else its name times 4 and
    1."""
    id, flags = call.known(0), call.known(1)
    return 2 if flags & MISMATCH else 0 if flags & ANONYMOUS else 4 * id + 1


def _named_differently(call: Call, name: int) -> bool:
    """Whether two barriers may mismatch, so that their names have to be told."""
    used = call.own_fact("gasnet.names") or frozenset()
    assert isinstance(used, frozenset)
    if name:
        call.publish("gasnet.names", used | {name})
    names: set[int] = {name}
    for told in call.all_facts("gasnet.names"):
        assert isinstance(told, frozenset)
        names |= told
    return 2 in names or len(names - {0}) > 1


def notify(steps: Steps, name: int = 0) -> None:
    call = steps.call
    if steps.recall("gasnet.notified") is not None:
        call.fail("two notifies without a wait between them", "wait for a barrier before the next one is notified")
    if _named_differently(call, name):
        steps.do(Store(_cell(call, steps.count("gasnet.told", 2)), Const(name)))
    if _split(call):
        flags.arrive(steps, _everyone(call), BARRIER)
    steps.note("gasnet.notified", name)
    steps.note(UNDISTURBED, True)
    steps.note(LEFT_OPEN, SPLIT)


def wait(steps: Steps, name: int = 0) -> Expr:
    """The result."""
    call = steps.call
    notified = steps.recall("gasnet.notified")
    if notified is None:
        call.fail("a wait for a barrier that has not been notified", "call gasnet_barrier_notify before")
    steps.note("gasnet.notified", None)
    steps.note(LEFT_OPEN, None)
    if _split(call):
        flags.depart(steps, _everyone(call), BARRIER)
    else:
        if not steps.recall(UNDISTURBED):
            call.publish(SPLIT, True)
        flags.barrier(steps, _everyone(call), BARRIER)
    if name != notified:
        return Const(BARRIER_MISMATCH)
    return _result(steps) if _named_differently(call, name) else Const(OK)


def _result(steps: Steps) -> Expr:
    """What has been told is read after the barrier."""
    call = steps.call
    parity = 1 - cast(int, steps.recall("gasnet.told", 0))
    names: list[Expr] = []
    for rank in range(call.nodes):
        register = call.register("name")
        steps.do(Fetch(register, Const(rank), _cell(call, parity)))
        names.append(register)
    differ: Expr = Const(0)
    for place, name in enumerate(names):
        differ = Binary("||", differ, Binary("==", name, Const(2)))
        for other in names[:place]:
            both = Binary("&&", name, other)
            differ = Binary("||", differ, Binary("&&", both, Binary("!=", name, other)))
    return Conditional(differ, Const(BARRIER_MISMATCH), Const(OK))


def _cell(call: Call, parity: int) -> Expr:
    """Where a rank tells the name of its barrier: one cell for even and one for odd barriers, so that whoever tells the
    next but one knows that all have read it."""
    return call.cell(call.internal("gasnet", "name", parity, name=f"gasnet_barrier_name_{parity}"), 8)


@PROTOTYPES.calls("void gasnet_barrier_notify(int id, int flags);")
def barrier_notify(call: Call) -> Outcome:
    steps = Steps(call)
    notify(steps, _name(call))
    return steps.outcome()


@PROTOTYPES.calls("int gasnet_barrier_wait(int id, int flags);")
def barrier_wait(call: Call) -> Outcome:
    steps = Steps(call)
    return steps.outcome(wait(steps, _name(call)))


@PROTOTYPES.calls("int gasnet_barrier_try(int id, int flags);")
def barrier_try(call: Call) -> Sequence[Outcome]:
    """May be called not ready at any time; what the rank does until then is between the halves."""
    call.publish(SPLIT, True)
    return [barrier_wait(call), Outcome(result=Known(NOT_READY))]


@PROTOTYPES.calls("int gasnet_barrier(int id, int flags);")
def barrier(call: Call) -> Outcome:
    steps = Steps(call)
    notify(steps, _name(call))
    return steps.outcome(wait(steps, _name(call)))
