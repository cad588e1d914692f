"""GASNet's split-phase barrier: nothing outstanding is waited for.

Most programs wait as soon as they have notified. While all ranks of a program always do, the two halves are one barrier
of the calculus; a single one that does something in between lets it be two halves everywhere.

The state of a rank: ``gasnet.notified``, the position of the notify that has not been waited for.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.gasnet.names import NOT_READY, OK
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.values import Known
from pgasrob.program.commands import Barrier

PROTOTYPES = Prototypes()


def _everyone(call: Call) -> Group:
    return Group(("gasnet", "barrier"), tuple(range(call.nodes)))


def _split(call: Call) -> bool:
    """Whether some rank does something between the halves."""
    return any(call.published(rank, "gasnet.split") for rank in range(call.nodes))


def notify(steps: Steps) -> None:
    call = steps.call
    if steps.recall("gasnet.notified") is not None:
        call.fail("two notifies without a wait between them", "wait for a barrier before the next one is notified")
    if _split(call):
        flags.arrive(steps, _everyone(call))
        steps.note("gasnet.notified", True)
    else:
        steps.note("gasnet.notified", call.position)


def wait(steps: Steps) -> None:
    call = steps.call
    notified = steps.recall("gasnet.notified")
    if notified is None:
        call.fail("a wait for a barrier that has not been notified", "call gasnet_barrier_notify before")
    steps.note("gasnet.notified", None)
    if _split(call):
        flags.depart(steps, _everyone(call))
        return
    if notified != call.position:
        call.publish("gasnet.split", True)
    steps.do(Barrier())


@PROTOTYPES.calls("void gasnet_barrier_notify(int id, int flags);")
def barrier_notify(call: Call) -> Outcome:
    """Anonymous, or named: that all ranks give the same name is taken for granted, the wait gives `GASNET_OK`."""
    steps = Steps(call)
    notify(steps)
    return steps.outcome()


@PROTOTYPES.calls("int gasnet_barrier_wait(int id, int flags);")
def barrier_wait(call: Call) -> Outcome:
    steps = Steps(call)
    wait(steps)
    return steps.outcome(Known(OK))


@PROTOTYPES.calls("int gasnet_barrier_try(int id, int flags);")
def barrier_try(call: Call) -> Sequence[Outcome]:
    """May be called not ready at any time; what the rank does until then is between the halves."""
    call.publish("gasnet.split", True)
    return [barrier_wait(call), Outcome(result=Known(NOT_READY))]


@PROTOTYPES.calls("int gasnet_barrier(int id, int flags);")
def barrier(call: Call) -> Outcome:
    steps = Steps(call)
    if _split(call):
        flags.arrive(steps, _everyone(call))
        flags.depart(steps, _everyone(call))
    else:
        steps.do(Barrier())
    return steps.outcome(Known(OK))
