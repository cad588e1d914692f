"""Requests: what nonblocking calls give, and the calls that complete them (MPI-4, section 3.7).

A request is a handle with what completes it: of one-sided calls the queue of their own (origin side only), of receives
the message and where it goes, of barriers the communicator. Sends are complete at once, as their buffer is read there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import NUMBERED, Steps, least_free
from pgasrob.frontends.apis.flags import Group, Key, all_at_once, receive
from pgasrob.frontends.apis.interface import Call, Way
from pgasrob.frontends.apis.lent import give_back, lend
from pgasrob.frontends.apis.mpi import matching, rules
from pgasrob.frontends.apis.mpi.datatypes import Datatype, datatype_of
from pgasrob.frontends.apis.mpi.handles import SUCCESS, group_of, key_of, pointer, ranks
from pgasrob.frontends.apis.mpi.header import ANY_TAG, PROC_NULL, REQUEST, STATUS, UNDEFINED, calls, does
from pgasrob.frontends.apis.mpi.pending_collectives import Pending
from pgasrob.frontends.apis.mpi.targets import Target, Window, named
from pgasrob.frontends.apis.split_barriers import end
from pgasrob.frontends.apis.transfers import bounded, element
from pgasrob.frontends.c.types import INT, ULONG, CType
from pgasrob.frontends.c.values import NULL, Address, Handle, ObjectId
from pgasrob.program.commands import WaitLocal
from pgasrob.program.illegal_calls import Opened

LIVE = f"mpi.requests{NUMBERED}"
SAME_COUNT = "give the same number of elements on both sides"
"""The hint for values that do not fit the buffer."""

# Requests of one-sided calls. Numbers are used again, so that loops come back to the state they began in.


def rma_request(steps: Steps, of: Window, target: Target) -> tuple[Handle, int]:
    """A request for what is issued to ``target``, and its number among those to it."""
    live, name = live_requests(steps), named(target)
    taken = {number for window, rank, number, _ in live if (window, rank) == (of.id, name)}
    number = least_free(taken, steps.call.thread * OF_THREAD)
    steps.note(LIVE, live | {(of.id, name, number, steps.opened())})
    return Handle("request", ("rma", of.id, of.members, name, number)), number


def live_requests(steps: Steps) -> frozenset[tuple[Key, int | str, int, Opened]]:
    """The requests of one-sided calls that are not complete, each with the call that has made it."""
    live = steps.recall(LIVE, frozenset())
    assert isinstance(live, frozenset)
    return live


def _forget(steps: Steps, id: Key, target: int | str, number: int) -> None:
    """The request is live no more."""
    steps.note(LIVE, frozenset(each for each in live_requests(steps) if each[:3] != (id, target, number)))
    give_back(steps, (id, number))


# Requests of messages and barriers
MOST_SENDS, OF_THREAD = 8, 1 << 10
"""How many sends are looked after until they are complete: of more it is not noted that they are under way. Each
thread has numbers of its own."""


def pending(steps: Steps, kind: str, key: Key = (), slot: int | None = None) -> int:
    """Note that the call has begun a ``kind`` of operation, which has to be waited for. It is known by the ``key`` of
    its channel and its ``slot`` there, or by the least number that is free."""
    taken = {number for id, _, number, _ in live_requests(steps) if id == (kind, *key)}
    number = least_free(taken, steps.call.thread * OF_THREAD) if slot is None else slot
    if number % OF_THREAD < MOST_SENDS or slot is not None:
        steps.note(LIVE, live_requests(steps) | {((kind, *key), 0, number, steps.opened())})
    return number


def lend_buffer(
    steps: Steps,
    kind: str,
    number: int,
    scalars: Sequence[tuple[Address, CType]],
    key: Key = (),
    *,
    receives: bool = True,
) -> None:
    """Note that the operation that `pending` has noted with this ``kind``, ``number`` and ``key`` has these ``scalars``
    until it is complete. It ``receives`` there, unless it only sends from there, as one of kind "send" does."""
    if kind != "send" or number % OF_THREAD < MOST_SENDS:
        lend(steps, ((kind, *key), number), scalars, receives and kind != "send", rules.BUFFER_IN_USE)


def receive_request(
    channel: Group, slot: int, tag: int, source: int, buffer: Address, type: Datatype, count: int
) -> Handle:
    """The request of a receive: the slot of its message in the channel is fixed, and where the elements go is known."""
    assert isinstance(buffer.offset, int)
    return Handle(
        "request",
        ("receive", channel.key, channel.members, slot, tag, source, buffer.object, buffer.offset,
         count, *type.handle().data),
    )  # fmt: skip


def store_status(steps: Steps, status: Address | None, source: int, tag: int, bytes: int) -> None:
    """Store an MPI_Status, unless the pointer is null."""
    if status is not None:
        for offset, value in ((0, source), (4, tag), (8, 0)):
            steps.store(steps.call.moved(status, offset), value, INT)
        steps.store(steps.call.moved(status, 16), bytes, ULONG)


# Completion


def _request(call: Call, address: Address) -> Handle | None:
    """The request at ``address``, None for MPI_REQUEST_NULL."""
    value = call.load(address, REQUEST)
    if value == NULL:
        return None
    if not isinstance(value, Handle) or value.kind != "request":
        call.fail(
            no_handle(value),
            "a request that is none here",
            "wait for requests on every path on which they have been made",
        )
    return value


def _complete(steps: Steps, address: Address, request: Handle | None, status: Address | None) -> None:
    """Wait for a request; its variable becomes MPI_REQUEST_NULL."""
    source, tag, bytes = PROC_NULL, ANY_TAG, 0
    match request.data if request is not None else ():
        case ():
            pass
        case ("send", int(number), *way):
            if way:
                key, members = way
                matching.send_ends(steps, group_of(key, members), number)
            _forget(steps, ("send",), 0, number)
        case ("rma", tuple(id), tuple(members), int(target) | str(target), int(own)):
            of = Window(key_of(id), ranks(members))
            rank = of.ranks(target) if isinstance(target, int) else ()
            with of.marked(steps, "request", rank, request=own):
                steps.do(WaitLocal(of.queue(steps.call, target, own)))
            _forget(steps, of.id, target, own)
        case ("barrier", tuple(key), tuple(members), int(phase), str(name)):
            end(steps, group_of(key, members), name, phase)
            _forget(steps, ("barrier", *key_of(key), name), 0, phase)
        case ("collective", *_) as data:
            _bring(steps, Pending.of(data))
        case ("receive", tuple(key), tuple(members), int(slot), int(tag), int(source), ObjectId() as object,
              int(offset), int(count), *data):  # fmt: skip
            type, place = datatype_of(data), Address(object, offset)
            values = receive(steps, group_of(key, members), count * type.count, slot)
            for (displacement, kind), value in zip(type.elements(count), values, strict=True):
                steps.store(steps.call.moved(place, displacement), value, kind)
            bytes = count * type.size(steps.call)
            _forget(steps, ("receive", *key_of(key)), 0, slot)
        case other:
            raise AssertionError(f"an unknown kind of request: {other}")
    if request is not None:
        steps.store(address, NULL, REQUEST)
    store_status(steps, status, source, tag, bytes)


def _bring(steps: Steps, what: Pending) -> None:
    values = what.brings(steps)
    if len(values) != what.count * what.type.count:
        steps.call.fail(
            Wrong.ARGUMENT, f"{what.name} brings {len(values)} elements into {what.count * what.type.count}", SAME_COUNT
        )
    for (displacement, kind), value in zip(what.type.elements(what.count), values, strict=True):
        steps.store(steps.call.moved(what.place, displacement), value, kind)
    key, number = what.id
    _forget(steps, ("collective", *key), 0, number)


@does("Wait(MPI_Request *request, MPI_Status *status)")
def wait(call: Call, steps: Steps) -> None:
    address = pointer(call, 0)
    _complete(steps, address, _request(call, address), call.pointer(1))


@does("Waitall(int count, MPI_Request *requests, MPI_Status *statuses)")
def waitall(call: Call, steps: Steps) -> None:
    _all(steps, 2)


@calls("Test(MPI_Request *request, int *flag, MPI_Status *status)")
def test(call: Call) -> list[Way]:
    steps, address = Steps(call), pointer(call, 0)
    request = _request(call, address)
    _complete(steps, address, request, call.pointer(2))
    return _tested(steps, 1, request is not None)


@calls("Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)")
def testall(call: Call) -> list[Way]:
    steps = Steps(call)
    return _tested(steps, 2, _all(steps, 3))


def _tested(steps: Steps, flag: int, live: bool) -> list[Way]:
    """The outcomes of a test that completes requests by ``steps``: it sets argument ``flag``, or clears it, which
    it may do at any time if any of the requests is ``live``."""
    not_yet = Steps(steps.call)
    steps.store(pointer(steps.call, flag), 1, INT)
    done = all_at_once(steps, steps.outcome(SUCCESS))
    not_yet.store(pointer(steps.call, flag), 0, INT)
    return [done, not_yet.outcome(SUCCESS)] if live else [done]


def _all(steps: Steps, statuses: int) -> bool:
    """Complete all requests of the array that the first arguments give; whether there are any."""
    call = steps.call
    found = False
    for index in range(bounded(call, 0)):
        address = element(call, pointer(call, 1), index, REQUEST)
        status = call.pointer(statuses)
        request = _request(call, address)
        found = found or request is not None
        _complete(steps, address, request, None if status is None else element(call, status, index, STATUS))
    return found


@calls("Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)")
def waitany(call: Call) -> list[Way]:
    """Any request that is complete; which one is not promised."""
    outcomes = [_one(call, index, None) for index in _live_indexes(call)]
    if not outcomes:
        steps = Steps(call)
        steps.store(pointer(call, 2), UNDEFINED, INT)
        outcomes.append(steps.outcome(SUCCESS))
    return outcomes


@calls("Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)")
def testany(call: Call) -> list[Way]:
    live, steps = _live_indexes(call), Steps(call)
    steps.store(pointer(call, 2), UNDEFINED, INT)
    steps.store(pointer(call, 3), 0 if live else 1, INT)
    return [*(_one(call, index, 3) for index in live), steps.outcome(SUCCESS)]


MOST_LIVE = 5
"""The most requests of which any set may be complete: each set is a way of the call."""


@calls("""
    Waitsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses);
    Testsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
""")
def waitsome(call: Call) -> list[Way]:
    """Any requests that are complete: at least one, where it is waited for."""
    live = _live_indexes(call)
    if len(live) > MOST_LIVE:
        call.fail(Wrong.SIZE_LIMIT, f"{call.name} of {len(live)} requests", f"at most {MOST_LIVE} are supported")
    least = 1 if call.name.endswith("Waitsome") else 0
    choices = [some for count in range(least, len(live) + 1) for some in combinations(live, count)]
    return [_some(call, some) for some in choices] if live else [_some(call, (), UNDEFINED)]


def _some(call: Call, chosen: tuple[int, ...], number: int | None = None) -> Way:
    steps, requests, status = Steps(call), pointer(call, 1), call.pointer(4)
    for place, index in enumerate(chosen):
        address = element(call, requests, index, REQUEST)
        at = None if status is None else element(call, status, place, STATUS)
        _complete(steps, address, _request(call, address), at)
        steps.store(element(call, pointer(call, 3), place, INT), index, INT)
    steps.store(pointer(call, 2), len(chosen) if number is None else number, INT)
    return all_at_once(steps, steps.outcome(SUCCESS))


def _live_indexes(call: Call) -> list[int]:
    base = pointer(call, 1)
    return [
        index for index in range(bounded(call, 0)) if _request(call, element(call, base, index, REQUEST)) is not None
    ]


def _one(call: Call, index: int, flag: int | None) -> Way:
    steps, address = Steps(call), element(call, pointer(call, 1), index, REQUEST)
    _complete(steps, address, _request(call, address), call.pointer(len(call.arguments) - 1))
    steps.store(pointer(call, 2), index, INT)
    if flag is not None:
        steps.store(pointer(call, flag), 1, INT)
    return all_at_once(steps, steps.outcome(SUCCESS))


@does("Request_free(MPI_Request *request)")
def request_free(call: Call, steps: Steps) -> None:
    """The operation goes on. A receive without a wait is not supported."""
    address = pointer(call, 0)
    request = _request(call, address)
    if request is not None and request.data[0] == "receive":
        call.fail(Wrong.CALL_LIMIT, "MPI_Request_free of a receive", "wait for it")
    match request.data if request is not None else ():
        case ("rma", tuple(id), _, int(target) | str(target), int(own)):
            made = next((each[3] for each in live_requests(steps) if each[:3] == (id, target, own)), None)
            steps.illegal(rules.REQUEST_FREED, f"{call.name} of the request of a one-sided call", made)
            _forget(steps, key_of(id), target, own)
        case ("send", int(number), *_):
            _forget(steps, ("send",), 0, number)
        case ("barrier", tuple(key), _, int(phase), str(name)):
            _freed_collective(steps, ("barrier", *key_of(key), name), phase)
        case ("collective", *_) as data:
            key, number = Pending.of(data).id
            _freed_collective(steps, ("collective", *key), number)
    steps.store(address, NULL, REQUEST)


def _freed_collective(steps: Steps, id: Key, number: int) -> None:
    made = next((each[3] for each in live_requests(steps) if each[:3] == (id, 0, number)), None)
    steps.illegal(rules.COLLECTIVE_FREED, f"{steps.call.name} of the request of a nonblocking collective", made)
    _forget(steps, id, 0, number)
