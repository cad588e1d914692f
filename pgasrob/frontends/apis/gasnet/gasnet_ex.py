"""GASNet-EX: the primordial team, one segment for each rank, RMA and events.

An event is a handle of GASNet 1.8, or a part of one: the local side of a put whose source may be used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.gasnet import barriers, queues, setup, waiting
from pgasrob.frontends.apis.gasnet.header import DEFER, EVENT, FUNCTIONS, GETS, GROUP, LOCAL, NOT_READY, NOW, OK, PUTS
from pgasrob.frontends.apis.gasnet.rma import (
    BLOCKING,
    EXPLICIT,
    IMPLICIT,
    IMPLICIT_KINDS,
    Mode,
    begin,
    get_value,
    set_value,
    transfer,
)
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.types import ULONG, VOID, Opaque, Pointer
from pgasrob.frontends.c.values import NULL, Handle, Known, Value
from pgasrob.program.commands import Put, Read, WaitLocal, Write
from pgasrob.program.expressions import Expr

LEAF, LEAVES, BARRIER = "gasnet.leaf", "gasnet.leaves", "gasnet.barrier"
DONE = FUNCTIONS.returning(Known(OK))


# Job


@DONE.does("""
    int gex_Client_Init(gex_Client_t *client, gex_EP_t *endpoint, gex_TM_t *team, const char *name, int *argc,
                        char ***argv, gex_Flags_t flags)
""")
def client_init(call: Call, steps: Steps) -> None:
    for index, kind in enumerate(("Client", "EP", "TM")):
        steps.store(target(call, index), Handle(f"gasnet.{kind}"), Opaque(f"gex_{kind}_t"))


@DONE.does("int gex_Segment_Attach(gex_Segment_t *segment, gex_TM_t team, size_t size)")
def segment_attach(call: Call, steps: Steps) -> None:
    setup.allocate(steps, call.known(2))
    steps.store(target(call, 0), Handle("gasnet.Segment"), Opaque("gex_Segment_t"))


FUNCTIONS.returns(
    "gex_Rank_t gex_TM_QueryRank(gex_TM_t team); gex_Rank_t gex_System_QueryJobRank(void)", lambda call: call.me
)
FUNCTIONS.returns(
    "gex_Rank_t gex_TM_QuerySize(gex_TM_t team); gex_Rank_t gex_System_QueryJobSize(void)", lambda call: call.count
)
FUNCTIONS.returns("void *gex_Segment_QueryAddr(gex_Segment_t segment)", lambda call: setup.own_segment())
FUNCTIONS.returns("size_t gex_Segment_QuerySize(gex_Segment_t segment)", setup.own_size)


_WHERE = "gex_TM_t team, gex_Rank_t rank, void **owner, void **here, size_t *size"


@DONE.does(f"""
    int gex_Segment_QueryBound({_WHERE}); gex_Event_t gex_EP_QueryBoundSegmentNB({_WHERE}, gex_Flags_t flags)
""")
def bound(call: Call, steps: Steps) -> None:
    """Where the segment of a rank is: its address there, here (nowhere, unless they share memory), and its size. Null
    pointers ask nothing. An event that is complete already is 0 as well as `GASNET_OK`."""
    owner = call.expression(1) if call.symbolic else call.known(1)
    there, here, size = (call.pointer(index) for index in (2, 3, 4))
    if there is not None:
        steps.store(there, setup.segment_of(call, owner), Pointer(VOID))
    if here is not None:
        steps.store(here, _address_here(call, owner), Pointer(VOID))
    if size is not None:
        steps.store(size, setup.size_of(call, owner), ULONG)


def _address_here(call: Call, owner: int | Expr) -> Value:
    if owner == call.me or owner == call.rank or owner in call.neighbours():
        return setup.segment_of(call, owner, here=True)
    return NULL


# RMA


def _put(call: Call, steps: Steps, mode: Mode) -> Value | None:
    """The argument after the size says when the source may be used again: at return, with the operation, with the
    implicit set, or when an event says so, which the call stores."""
    local = DEFER if mode == BLOCKING else call.arguments[5]
    result = transfer(steps, mode, "group" if local == GROUP else "put", Put if local == NOW else Write, (2, 1, 3, 4))
    if local not in (NOW, DEFER, GROUP):
        if mode != EXPLICIT or not isinstance(result, Handle):
            call.fail(
                Wrong.ARGUMENT,
                f"{call.texts[5]} for the local side",
                "implicit puts take GEX_EVENT_NOW, _DEFER or _GROUP",
            )
        steps.note(LEAVES, (*queues.leaves(steps), *result.data))
        steps.store(target(call, 5), Handle(LEAF, result.data), EVENT)
    return result


def _get(call: Call, steps: Steps, mode: Mode) -> Value | None:
    return transfer(steps, mode, "get", Read, (3, 2, 1, 4))


def _put_value(call: Call, steps: Steps, mode: Mode) -> Value | None:
    remote, node = queues.remote(call, 2, 1)
    return begin(steps, mode, "put", lambda where: set_value(steps, remote, node, (3, 4), where))


_PUT = "gex_TM_t team, gex_Rank_t rank, void *dest, void *src, size_t bytes"
_VALUE = "gex_TM_t team, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t bytes, gex_Flags_t flags"
_GET = "gex_TM_t team, void *dest, gex_Rank_t rank, void *src, size_t bytes, gex_Flags_t flags"
for _mode, _name in ((BLOCKING, "Blocking"), (EXPLICIT, "NB"), (IMPLICIT, "NBI")):
    _result = "gex_Event_t" if _mode == EXPLICIT else "int"
    _local = "" if _mode == BLOCKING else ", gex_Event_t *local"
    DONE.does(f"{_result} gex_RMA_Put{_name}({_PUT}{_local}, gex_Flags_t flags)")(partial(_put, mode=_mode))
    DONE.does(f"{_result} gex_RMA_Put{_name}Val({_VALUE})")(partial(_put_value, mode=_mode))
    DONE.does(f"{_result} gex_RMA_Get{_name}({_GET})")(partial(_get, mode=_mode))


@FUNCTIONS.does("""
    gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t team, gex_Rank_t rank, void *src, size_t bytes, gex_Flags_t flags)
""")
def get_val(call: Call, steps: Steps) -> Expr:
    remote, node = queues.remote(call, 2, 1)
    return get_value(steps, remote, node, 3)


# Events


def wait_event(steps: Steps, event: Value, text: str) -> None:
    if isinstance(event, Handle) and event.kind == BARRIER:
        barriers.wait(steps)
    elif isinstance(event, Handle) and event.kind == LEAF and isinstance(event.data[0], int):
        if event.data[0] in queues.open_handles(steps):
            steps.do(WaitLocal(queues.handle_queue(steps, event.data[0])))
        steps.note(LEAVES, tuple(number for number in queues.leaves(steps) if number != event.data[0]))
    else:
        waiting.wait_handle(steps, event, text)


@FUNCTIONS.does("void gex_Event_Wait(gex_Event_t event)")
def event_wait(call: Call, steps: Steps) -> None:
    wait_event(steps, call.arguments[0], call.texts[0])


@FUNCTIONS.calls("int gex_Event_Test(gex_Event_t event)")
def event_test(call: Call) -> Sequence[Outcome]:
    event, steps = call.arguments[0], Steps(call)
    barrier = isinstance(event, Handle) and event.kind == BARRIER
    if barrier:
        call.publish(barriers.SPLIT, True)
    wait_event(steps, event, call.texts[0])
    done = steps.outcome(OK)
    return [done, Outcome(result=Known(NOT_READY))] if barrier else waiting.tested(done)


for _name, _handler in zip(("WaitAll", "WaitSome", "TestAll", "TestSome"), waiting.LISTS.values(), strict=True):
    FUNCTIONS.add(
        f"int gex_Event_{_name}(gex_Event_t *events, size_t number, gex_Flags_t flags)",
        partial(_handler, type=EVENT, waiter=wait_event),
    )


@DONE.does("void gex_NBI_Wait(gex_EC_t mask, gex_Flags_t flags)")
def wait_implicit(call: Call, steps: Steps) -> None:
    """`GEX_EC_LC` is the local side of the puts with `GEX_EVENT_GROUP`, no other."""
    mask = call.known(0)
    if mask & LOCAL and "group" in str(steps.recall("gasnet.implicit", ())):
        steps.do(WaitLocal(queues.implicit_queue(steps, "group")))
    kinds = IMPLICIT_KINDS["puts"] * bool(mask & PUTS) + IMPLICIT_KINDS["gets"] * bool(mask & GETS)
    queues.complete_implicit(steps, kinds)


@FUNCTIONS.calls("int gex_NBI_Test(gex_EC_t mask, gex_Flags_t flags)")
def test_implicit(call: Call) -> Sequence[Outcome]:
    steps = Steps(call)
    wait_implicit(call, steps)
    return waiting.tested(steps.outcome(OK))


@FUNCTIONS.does("gex_Event_t gex_Coll_BarrierNB(gex_TM_t team, gex_Flags_t flags)")
def barrier(call: Call, steps: Steps) -> Handle:
    barriers.notify(steps)
    return Handle(BARRIER)
