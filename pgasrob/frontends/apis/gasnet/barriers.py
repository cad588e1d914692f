"""GASNet's split-phase barrier: nothing outstanding is waited for.

Most programs wait as soon as they have notified. While all ranks of a program always do, the two halves are one barrier
of the calculus; a single one that does something in between lets it be two halves everywhere.

Barriers may have names. As long as no two that a program gives can differ these have no effect; else every rank writes
the name of its barrier where the others can read it, and a wait says whether they match.

The state of a rank: ``gasnet.notified``, the name of the notify that has not been waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.frontends.apis import flags, split_barriers
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.gasnet import rules
from pgasrob.frontends.apis.gasnet.header import ANONYMOUS, BARRIER_MISMATCH, FUNCTIONS, MISMATCH, NOT_READY, OK
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.values import Known
from pgasrob.frontends.c.writer import LEFT_OPEN, UNDISTURBED
from pgasrob.program.commands import Fetch, Store
from pgasrob.program.expressions import Binary, Conditional, Const, Expr

BARRIER = "gasnet_barrier"
"""The collective that the two halves, and a whole barrier, belong to."""
SPLIT = "gasnet.split"
"""Key of the published fact that a rank does something between the halves, or ends after the first one."""


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
    """Whether two barriers may mismatch, so that ranks have to compare their names."""
    used = call.own_fact("gasnet.names") or frozenset()
    assert isinstance(used, frozenset)
    if name:
        call.publish("gasnet.names", used | {name})
    names: set[int] = {name}
    for others in call.all_facts("gasnet.names"):
        assert isinstance(others, frozenset)
        names |= others
    return 2 in names or len(names - {0}) > 1


def notify(steps: Steps, name: int = 0) -> None:
    """The first half of a barrier."""
    call = steps.call
    if steps.recall("gasnet.notified") is not None:
        raise NotAllowed(rules.NOTIFIED_TWICE, f"{call.name} before the last barrier has been waited for")
    if _named_differently(call, name):
        steps.do(Store(_cell(call, steps.count("gasnet.named", 2)), Const(name)))
    if _split(call):
        split_barriers.arrive(steps, _everyone(call), BARRIER)
    steps.note("gasnet.notified", name)
    steps.note(UNDISTURBED, True)
    steps.note(LEFT_OPEN, SPLIT)


def wait(steps: Steps, name: int = 0) -> Expr:
    """The second half of a barrier; what it returns."""
    call = steps.call
    notified = steps.recall("gasnet.notified")
    if notified is None:
        raise NotAllowed(rules.NOT_NOTIFIED, f"{call.name} of a barrier that has not been notified")
    steps.note("gasnet.notified", None)
    steps.note(LEFT_OPEN, None)
    if _split(call):
        split_barriers.depart(steps, _everyone(call), BARRIER)
    else:
        if not steps.recall(UNDISTURBED):
            call.publish(SPLIT, True)
        flags.barrier(steps, _everyone(call), BARRIER)
    if name != notified:
        return Const(BARRIER_MISMATCH)
    return _result(steps) if _named_differently(call, name) else Const(OK)


def _result(steps: Steps) -> Expr:
    """Compare the names of all ranks, which are read after the barrier."""
    call = steps.call
    parity = 1 - cast(int, steps.recall("gasnet.named", 0))
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
    """The cell with the name of a rank's barrier: one for even and one for odd barriers. A rank that writes the name of
    the next barrier but one knows that all have read this one."""
    return call.own_cell("gasnet", "name", parity, name=f"gasnet_barrier_name_{parity}")


@FUNCTIONS.does("void gasnet_barrier_notify(int id, int flags)")
def barrier_notify(call: Call, steps: Steps) -> None:
    notify(steps, _name(call))


@FUNCTIONS.does("int gasnet_barrier_wait(int id, int flags)")
def barrier_wait(call: Call, steps: Steps) -> Expr:
    return wait(steps, _name(call))


@FUNCTIONS.calls("int gasnet_barrier_try(int id, int flags)")
def barrier_try(call: Call) -> Sequence[Outcome]:
    """May return "not ready" at any time; what the rank does until then is between the halves."""
    call.publish(SPLIT, True)
    steps = Steps(call)
    return [steps.outcome(barrier_wait(call, steps)), Outcome(result=Known(NOT_READY))]


@FUNCTIONS.does("int gasnet_barrier(int id, int flags)")
def barrier(call: Call, steps: Steps) -> Expr:
    notify(steps, _name(call))
    return wait(steps, _name(call))
