"""What the records of a trace mean: its calls and accesses as recorded commands.

As in the C front ends, a call is the few commands that do what its library promises (`pgasrob/frontends/apis`). A call
that is not known here, or is used in a way that is not, raises :class:`NotSupported`: nothing is passed over.

A command that waits stands where its call has returned, any other one where its call was made. Addresses count bytes:
``place << SHIFT | offset``, where a place is a piece of memory that is the same on all ranks (a symmetric object, the
static data of a module, a window), or one that the library has for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.declarations import Source
from pgasrob.program.expressions import Const, Register
from pgasrob.program.statements import Span
from pgasrob.recording import collectives, onesided
from pgasrob.recording.events import Recorded
from pgasrob.recording.places import STATIC, NotSupported, Places
from pgasrob.recording.spans import Spans
from pgasrob.recording.told import NotTold, Told
from pgasrob.runtime.record.records import (
    Access,
    Call,
    End,
    EndOfRegion,
    Group,
    Kind,
    Log,
    Operation,
    Region,
    Return,
    Trace,
    signed,
)

WORLD, PLAIN = 1, -1
NONBLOCKING, FETCHING, LOCAL, REQUEST = 1, 2, 8, 16
STANDS_FOR_ALL = -1
_REGISTER = Register("seen", 0)
_RELATIONS = ("==", "!=", ">", "<=", "<", ">=")
_DONE_AT_RETURN = {
    Operation.WAIT_UNTIL, Operation.SET_LOCK, Operation.TEST_LOCK, Operation.TEST, Operation.LOCK, Operation.LOCK_ALL,
}  # fmt: skip
_NO_PRECEDE = 2 | 8192
"""`MPI_MODE_NOPRECEDE` of Open MPI and of MPICH."""
_WHOLE_WORD = (1 << 64) - 1


class Request(NamedTuple):
    """What completes a request. ``key``: what is waited for first. ``number``: that of its queue."""

    queue: Const | None = None
    number: int = 0
    local: bool = False
    keys: tuple[tuple[object, ...], ...] = ()
    window: tuple[int, int] | None = None


@dataclass
class _Rank:
    pending: Call | None = None
    known: dict[tuple[object, ...], tuple[Recorded, ...]] = field(default_factory=dict)
    used: dict[int, set[tuple[int, int]]] = field(default_factory=dict)  # of a window the targets, numbers of requests
    exclusive: set[tuple[int, int]] = field(default_factory=set)  # windows and ranks that are locked so
    epochs: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)  # of a window: posted, started
    unmet: dict[int, dict[int, int]] = field(default_factory=dict)  # of a window the ranks whose fence may yet come
    requests: dict[int, Request] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)  # of the requests' queues


class Lowering:
    """The commands of a trace. ``places``: what each place is, ``made_up``: those that a library has for itself,
    ``static_starts``: for those of static data the module, and where in it they begin, ``log``: whose record was
    read last."""

    def __init__(self, trace: Trace, source: Source) -> None:
        self._trace, self._spans = trace, Spans(trace, source)
        self._ranks = [_Rank() for _ in range(trace.ranks)]
        self._places = Places(trace.ranks)
        self.places, self.made_up = self._places.numbers, self._places.made_up
        self.log: Log | None = None
        self.static_starts: dict[int, tuple[int, int]] = {}
        self._queues: dict[tuple[object, ...], int] = {}
        self.ended: set[int] = set()
        """Ranks that ended by themselves, as far as the events have been gone through."""
        self._all = tuple(range(trace.ranks))
        self._groups: dict[int, tuple[int, ...]] = {WORLD: self._all}
        self._windows: dict[int, tuple[int, ...]] = {}
        self._told = Told(self._places.own("told"))
        self._messages = self._places.own("messages")
        self._brought: dict[tuple[int, int], dict[int, int]] = {}

    @property
    def queues(self) -> int:
        """How many queues there are."""
        return len(self._queues)

    def events(self) -> Iterator[Recorded]:
        """The commands in the order of the run."""
        if self._trace.api == 3:
            raise NotSupported("the program uses both OpenSHMEM and MPI")
        for log, record in self._trace.in_order():
            self.log, rank = log, self._ranks[log.rank]
            match record:
                case Access():
                    yield from self._access(log.rank, record)
                case Call():
                    rank.pending = record
                    if record.operation not in _DONE_AT_RETURN:
                        yield from self._call(log.rank, record, ())
                case Return():
                    call, rank.pending = rank.pending, None
                    if call is not None and call.operation in _DONE_AT_RETURN:
                        yield from self._call(log.rank, call, record.results)
                    elif call is not None:
                        try:
                            yield from self._returned(log.rank, call, record.results)
                        except NotTold as error:
                            why = "returned before another rank called what it waits for"
                            raise NotSupported(f"{call.function} {why}, {self._where(call)}") from error
                case Region():
                    self._places.begin(log.rank, record)
                    if record.kind == STATIC and record.identity in log.modules:
                        start = record.address - log.modules[record.identity].base
                        self.static_starts[self._places.place(STATIC, record.identity)] = record.identity, start
                    rank.known.clear()
                case EndOfRegion():
                    self._places.end(log.rank, record.region)
                    rank.known.clear()
                case Group(group, members):
                    self._groups[group] = members
                case End():
                    self.ended.add(log.rank)

    def standing(self) -> Iterator[Recorded]:
        """What ranks stood before at the end, in calls that had not returned."""
        for rank, each in enumerate(self._ranks):
            if each.pending is not None and each.pending.operation in _DONE_AT_RETURN - {Operation.LOCK_ALL}:
                yield from list(self._call(rank, each.pending, ()))[:1]

    # Records

    def _access(self, rank: int, access: Access) -> tuple[Recorded, ...]:
        key = (access.kind, access.flags, access.address, access.bytes, access.place)
        known = self._ranks[rank].known
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(self._accessed(rank, access))
        return found

    def _accessed(self, rank: int, access: Access) -> Iterator[Recorded]:
        at = self._places.at(rank, access.address)
        if at is None:
            return
        owner, address = at
        where, to = Const(address), None if owner == rank else Const(owner)
        atomic = "C" if access.flags & 0x20 or access.kind is Kind.UPDATE else ""
        command: Command
        match access.kind:
            case Kind.LOAD | Kind.LOAD_RANGE:
                command = commands.Load(_REGISTER, where, to, atomic=atomic)
            case Kind.STORE | Kind.STORE_RANGE:
                command = commands.Store(where, Const(access.value or 0), to, atomic=atomic)
            case _:
                command = commands.Swap(_REGISTER, Const(owner), where, Const(access.value or 0), atomic=atomic)
        yield Recorded(rank, command, self._spans.of(access.place), None, (access.bytes,))

    def _queue(self, *what: object) -> Const:
        return Const(self._queues.setdefault(what, len(self._queues)))

    def _call(self, rank: int, call: Call, results: tuple[int, ...]) -> Iterator[Recorded]:
        span, named = self._spans.of(call.place), call.named()

        def told(command: Command, *sizes: int) -> Recorded:
            return Recorded(rank, command, span, None, sizes)

        operation = call.operation
        match operation:
            case Operation.PUT | Operation.GET | Operation.PUT_SIGNAL:
                yield from self._transfer(rank, call, named, span)
            case Operation.ATOMIC:
                yield from self._atomic(rank, call, named, span)
            case Operation.WAIT_UNTIL | Operation.TEST:
                yield from self._wait_until(rank, call, named, results, span)
            case Operation.FENCE:
                yield told(commands.Fence(self._queue(rank, named["queue"]), None))
            case Operation.QUIET | Operation.CONTEXT_DESTROY:
                yield told(commands.Wait(self._queue(rank, named["queue"])))
            case Operation.COLLECTIVE:
                yield from self._collective(rank, call, named, span)
            case Operation.SEND:
                yield from self._send(rank, call, named, span)
            case Operation.RECEIVE:
                yield from self._receive(rank, call, named, span)
            case Operation.REQUEST_FREE:
                request = self._ranks[rank].requests.pop(named["request"], None)
                if request is None or request.keys:
                    raise self._not_supported(rank, call)
            case Operation.POST:
                window, origins = named["window"], self._members(call, named["group"])
                self._ranks[rank].epochs["posted", window] = origins
                for origin in origins:
                    yield told(self._told.tell(origin, "post", window, rank, origin), 1)
            case Operation.START:
                self._ranks[rank].epochs["started", named["window"]] = self._members(call, named["group"])
            case Operation.COMPLETE:
                window = named["window"]
                targets = self._ranks[rank].epochs.pop(("started", window), ())
                for target in targets:
                    yield from self._complete(rank, window, target, span, True)
                for target in targets:
                    queue = self._window_queue(rank, window, target)
                    number = self._told.number("complete", window, rank, target)
                    cell = self._told.cell("complete", window, rank, target, number)
                    yield told(commands.Notify("add", Const(1), Const(target), cell, queue), 1)
            case Operation.WAIT | Operation.TEST_EXPOSURE | Operation.COMPLETE_REQUESTS | Operation.PROBE:
                return
            case Operation.COMMUNICATOR:
                if call.function == "MPI_Comm_split":  # everybody must know the colours of all
                    members = self._members(call, named["parent"])
                    yield from self._arrive(rank, members, span, "split", named["parent"])
            case Operation.INITIALISE:
                yield told(commands.Barrier("begin"))
            case Operation.ALLOCATE | Operation.FREE | Operation.FINALISE:
                if self._trace.api == 1:
                    yield told(commands.Wait(self._queue(rank, 0)))
                yield told(commands.Barrier("world" if operation is not Operation.FINALISE else "end"))
            case Operation.SET_LOCK | Operation.TEST_LOCK:
                lock = Const(self._places.own("lock", self._places.remote(rank, 0, named["address"])))
                if operation is Operation.TEST_LOCK and results and results[0]:
                    yield told(commands.Fetch(_REGISTER, Const(0), lock), 1)
                else:
                    yield told(commands.AwaitAdd(Const(0), lock, "==", Const(0), Const(1)), 1)
            case Operation.CLEAR_LOCK:
                lock = Const(self._places.own("lock", self._places.remote(rank, 0, named["address"])))
                yield told(commands.Wait(self._queue(rank, 0)))
                yield told(commands.FetchAdd(_REGISTER, Const(0), lock, Const(-1)), 1)
            case Operation.WINDOW_CREATE:
                yield from self._arrive(rank, self._members(call, named["group"]), span, "window", named["group"])
            case Operation.WINDOW_FREE | Operation.WINDOW_FENCE:
                window = named["window"]
                yield from self._complete(rank, window, STANDS_FOR_ALL, span, False)
                for member, number in self._ranks[rank].unmet.pop(window, {}).items():
                    if operation is Operation.WINDOW_FENCE and named["assertion"] & _NO_PRECEDE:
                        yield told(self._told.take("fence", window, member, rank, number))
                if operation is Operation.WINDOW_FENCE and named["assertion"] & _NO_PRECEDE:
                    number = self._told.number("fences", window, rank)
                    others = [member for member in self._windows[window] if member != rank]
                    for member in others:
                        yield told(self._told.tell(member, "fence", window, rank, member, number), 1)
                    self._ranks[rank].unmet[window] = dict.fromkeys(others, number)
                else:
                    yield from self._arrive(rank, self._windows[window], span, "meeting", window)
            case Operation.LOCK | Operation.LOCK_ALL:
                exclusive = named.get("exclusive_or_shared") == 1
                for target in self._targets(named):
                    lock = Const(self._places.own("window", named["window"], target))
                    test, add = ("==", -1) if exclusive else (">=", 1)
                    yield told(commands.AwaitAdd(Const(target), lock, test, Const(0), Const(add)), 1)
                    if exclusive:
                        self._ranks[rank].exclusive.add((named["window"], target))
            case Operation.UNLOCK | Operation.UNLOCK_ALL:
                held = self._ranks[rank].exclusive
                for target in self._targets(named):
                    yield from self._complete(rank, named["window"], target, span, False)
                    lock = Const(self._places.own("window", named["window"], target))
                    change = 1 if (named["window"], target) in held else -1
                    yield told(commands.FetchAdd(_REGISTER, Const(target), lock, Const(change)), 1)
                    held.discard((named["window"], target))
            case Operation.FLUSH:
                yield from self._complete(rank, named["window"], named["rank"], span, bool(call.flags & LOCAL))
            case Operation.WINDOW_SYNC | Operation.POINTER | Operation.CONTEXT_CREATE | Operation.EXIT:
                return
            case _:
                raise self._not_supported(rank, call)

    def _returned(self, rank: int, call: Call, results: tuple[int, ...]) -> Iterator[Recorded]:
        """What a call does that has told others something before it waits for them."""
        span, named, told = self._spans.of(call.place), call.named(), self._told

        def waits(*what: object) -> Recorded:
            return Recorded(rank, told.take(*what), span, None, (1,))

        match call.operation:
            case Operation.COLLECTIVE:
                yield from self._collected(rank, call, named, span)
            case Operation.WINDOW_CREATE:
                members = self._members(call, named["group"])
                self._windows[results[0]] = members
                yield from self._depart(rank, members, span, "window", named["group"])
            case Operation.COMMUNICATOR:
                if call.function == "MPI_Comm_split":
                    members = self._members(call, named["parent"])
                    yield from self._depart(rank, members, span, "split", named["parent"])
            case Operation.WINDOW_FREE | Operation.WINDOW_FENCE:
                if named["window"] not in self._ranks[rank].unmet:
                    yield from self._depart(rank, self._windows[named["window"]], span, "meeting", named["window"])
            case Operation.START:
                for target in self._ranks[rank].epochs["started", named["window"]]:
                    yield waits("post", named["window"], target, rank)
            case Operation.WAIT | Operation.TEST_EXPOSURE:
                if call.operation is Operation.TEST_EXPOSURE and not results[0]:
                    return
                for origin in self._ranks[rank].epochs.pop(("posted", named["window"]), ()):
                    number = told.number("completed", named["window"], origin, rank)
                    yield waits("complete", named["window"], origin, rank, number)
            case Operation.RECEIVE:
                if not call.flags & REQUEST:
                    sender, tag, size = map(signed, results)
                    way = ("message", named["group"], sender, rank, tag)
                    yield waits(*way, told.number("received", *way))
                    yield from self._touched(rank, ((named["address"], size),), span, True)
            case Operation.PROBE:
                found, sender, tag = map(signed, results[:3])
                if found and sender < 0:
                    raise NotSupported(f"{call.function} without a status, {self._where(call)}")
                if found:
                    way = ("message", named["group"], sender, rank, tag)
                    yield Recorded(rank, told.look(*way, told.last("received", *way) + 1), span, None, (1,))
            case Operation.COMPLETE_REQUESTS:
                for identity in results[::4]:
                    yield from self._completed(rank, call, identity, span)
            case _:
                return

    # Groups

    def _members(self, call: Call, group: int) -> tuple[int, ...]:
        found = self._groups.get(group & _WHOLE_WORD)
        if found is None:
            raise NotSupported(f"{call.function}, of ranks that are not known, {self._where(call)}")
        return found

    def _arrive(self, rank: int, members: tuple[int, ...], span: Span, *what: object) -> Iterator[Recorded]:
        """The first half of a meeting of all members; those of the world need no second one."""
        if len(members) == len(self._all):
            yield Recorded(rank, commands.Barrier("world"), span)
            return
        number = self._told.number(rank, *what)
        for member in members:
            if member != rank:
                yield Recorded(rank, self._told.tell(member, *what, number, rank, member), span, None, (1,))

    def _depart(self, rank: int, members: tuple[int, ...], span: Span, *what: object) -> Iterator[Recorded]:
        if len(members) < len(self._all):
            number = self._told.last(rank, *what)
            for member in members:
                if member != rank:
                    yield Recorded(rank, self._told.take(*what, number, member, rank), span, None, (1,))

    # Collectives

    def _flow(self, rank: int, call: Call, named: dict[str, int]) -> tuple[tuple[int, ...], collectives.Flow]:
        members = self._members(call, named["group"])
        brought = None
        if named["kind"] == collectives.COLLECT:
            told = self._brought.setdefault((named["group"], named["which"]), {})
            told[rank] = named["elements"]
            brought = sum(told.values())
        found = collectives.flow(rank, members, named, brought)
        if found is None or (named["kind"] == collectives.SCAN_BEFORE and self._trace.api == 1):
            raise self._not_supported(rank, call)
        return members, found

    def _collective(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        members, flow = self._flow(rank, call, named)
        key = ("collective", named["group"], named["which"])
        if call.flags & REQUEST:
            if named["kind"] != collectives.SYNC:
                raise self._not_supported(rank, call)
            others = [member for member in members if member != rank]
            for member in others:
                yield Recorded(rank, self._told.tell(member, *key, rank, member), span, None, (1,))
            keys = tuple((*key, member, rank) for member in others)
            self._ranks[rank].requests[named["request"]] = Request(keys=keys)
            return
        if named["kind"] == collectives.BARRIER:
            yield Recorded(rank, commands.Wait(self._queue(rank, 0)), span)
        if named["kind"] == collectives.BROADCAST and self._trace.api == 1:
            yield from self._broadcast(rank, named, flow, span)
            return
        yield from self._touched(rank, flow.reads, span, False)
        if flow.meets:
            yield from self._arrive(rank, members, span, "meeting of", named["group"])
        for member in flow.tells:
            yield Recorded(rank, self._told.tell(member, *key, rank, member), span, None, (1,))

    def _collected(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        members, flow = self._flow(rank, call, named)
        if flow.meets:
            yield from self._depart(rank, members, span, "meeting of", named["group"])
        for member in flow.takes:
            taken = self._told.take("collective", named["group"], named["which"], member, rank)
            yield Recorded(rank, taken, span, None, (1,))
        if named["kind"] != collectives.BROADCAST or self._trace.api != 1:
            yield from self._touched(rank, flow.writes, span, True)

    def _broadcast(self, rank: int, named: dict[str, int], flow: collectives.Flow, span: Span) -> Iterator[Recorded]:
        """The root puts into the destinations of the others, with a signal each, and goes on (OpenSHMEM 1.5, 9.9.4)."""
        queue = self._queue(rank, "broadcast")
        if flow.tells:
            yield Recorded(rank, commands.Fence(queue, None), span)
        for member in flow.tells:
            yield Recorded(rank, commands.Bundle(), span)
            for source, size in flow.reads:
                local, to = self._places.local(rank, source), self._places.remote(rank, member, named["destination"])
                if size:
                    put = commands.Put(Const(local), Const(member), Const(to), queue)
                    yield Recorded(rank, put, span, None, (size, size))
            cell = self._told.cell("collective", named["group"], named["which"], rank, member)
            yield Recorded(rank, commands.Signal("add", Const(1), Const(member), cell, queue), span, None, (1,))

    def _touched(self, rank: int, pieces: tuple[tuple[int, int], ...], span: Span, writes: bool) -> Iterator[Recorded]:
        """A library's own loads and stores."""
        for address, size in pieces:
            at = self._places.at(rank, address)
            if at is None or not size:
                continue
            owner, place = at
            where, to = Const(place), None if owner == rank else Const(owner)
            command: Command = commands.Load(_REGISTER, where, to)
            if writes:
                command = commands.Store(where, Const(0), to)
            yield Recorded(rank, command, span, None, (size,))

    # Messages

    def _send(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        """A nonblocking send reads its buffer at any time until it is waited for."""
        if named["mode"] == 2:
            raise self._not_supported(rank, call)
        piece = (named["address"], named["bytes"])
        way = ("message", named["group"], rank, named["rank"], named["tag"])
        if call.flags & REQUEST:
            yield from self._in_use(rank, named["request"], piece, span, ())
        else:
            yield from self._touched(rank, (piece,), span, False)
        number = self._told.number("sent", *way)
        yield Recorded(rank, self._told.tell(named["rank"], *way, number), span, None, (1,))

    def _receive(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        """A nonblocking receive writes its buffer at any time until it is waited for (MPI 4.1, 3.7.2)."""
        if not call.flags & REQUEST:
            return
        if named["rank"] < 0 or named["tag"] < 0:
            raise self._not_supported(rank, call)
        way = ("message", named["group"], named["rank"], rank, named["tag"])
        key = (*way, self._told.number("received", *way))
        yield from self._in_use(rank, named["request"], (named["address"], named["bytes"]), span, (key,), writes=True)

    def _in_use(
        self, rank: int, request: int, piece: tuple[int, int], span: Span, keys: tuple[tuple[object, ...], ...],
        writes: bool = False,
    ) -> Iterator[Recorded]:  # fmt: skip
        """An access to a buffer that stays pending until the request is completed: a copy to or from the library."""
        ranks, (address, size) = self._ranks[rank], piece
        at = self._places.at(rank, address)
        if at is None or at[0] != rank or not size:
            yield from self._touched(rank, (piece,), span, writes)
            ranks.requests[request] = Request(keys=keys)
            return
        number = next(number for number in range(len(ranks.numbers) + 1) if number not in ranks.numbers)
        ranks.numbers.add(number)
        queue = self._queue(rank, "request", number)
        ranks.requests[request] = Request(queue, number, keys=keys)
        copy = commands.Read if writes else commands.Write
        command = copy(Const(at[1]), Const(rank), Const(self._messages), queue)
        self._messages += size
        yield Recorded(rank, command, span, None, (size, size))

    def _completed(self, rank: int, call: Call, identity: int, span: Span) -> Iterator[Recorded]:
        ranks = self._ranks[rank]
        request = ranks.requests.pop(identity, None)
        if request is None:
            raise self._not_supported(rank, call)
        for key in request.keys:
            yield Recorded(rank, self._told.take(*key), span, None, (1,))
        if request.queue is not None:
            wait = commands.WaitLocal if request.local else commands.Wait
            yield Recorded(rank, wait(request.queue), span)
            if not request.local:
                ranks.numbers.discard(request.number)

    # One-sided operations

    def _targets(self, named: dict[str, int]) -> tuple[int, ...]:
        return (named["rank"],) if "rank" in named else self._windows[named["window"]]

    def _complete(self, rank: int, window: int, target: int, span: Span, local: bool) -> Iterator[Recorded]:
        for each, number in sorted(self._ranks[rank].used.get(window, ())):
            if target in (STANDS_FOR_ALL, each):
                queue = self._queue(rank, window, each, number)
                yield Recorded(rank, commands.WaitLocal(queue) if local else commands.Wait(queue), span)

    def _window_queue(self, rank: int, window: int, target: int, number: int = PLAIN) -> Const:
        self._ranks[rank].used.setdefault(window, set()).add((target, number))
        return self._queue(rank, window, target, number)

    def _queue_of(self, rank: int, call: Call, named: dict[str, int]) -> Const:
        if self._trace.api == 1:
            return self._queue(rank, named["queue"])
        window, target = named["queue"], named["rank"]
        if not call.flags & REQUEST:
            return self._window_queue(rank, window, target)
        ranks = self._ranks[rank]
        taken = {each.number for each in ranks.requests.values() if each.window == (window, target)}
        number = next(number for number in range(len(taken) + 1) if number not in taken)
        queue = self._window_queue(rank, window, target, number)
        ranks.requests[named["request"]] = Request(queue, number, True, window=(window, target))
        return queue

    def _met(self, rank: int, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        """The wait for the fence of the target that begins the epoch, where a fence does not meet (MPI 4.1, 12.5.1)."""
        unmet = self._ranks[rank].unmet.get(named["queue"]) if self._trace.api == 2 else None
        if unmet and named["rank"] in unmet:
            number = unmet.pop(named["rank"])
            taken = self._told.take("fence", named["queue"], named["rank"], rank, number)
            yield Recorded(rank, taken, span, None, (1,))

    def _target(self, rank: int, named: dict[str, int]) -> int:
        if self._trace.api == 1:
            return self._places.remote(rank, named["rank"], named["remote"])
        return self._places.in_window(named["rank"], named["queue"], named["remote"])

    def _transfer(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        if call.operation is Operation.PUT_SIGNAL:
            raise self._not_supported(rank, call)
        yield from self._met(rank, named, span)
        queue = self._queue_of(rank, call, named)
        nonblocking = bool(call.flags & NONBLOCKING) or self._trace.api == 2
        if call.operation is Operation.GET and not nonblocking:
            queue = self._queue(rank, "blocking")
        ends = onesided.Ends(partial(self._target, rank, named), partial(self._places.local, rank))
        for command, *sizes in onesided.transfer(call, named, ends, queue, nonblocking):
            yield Recorded(rank, command, span, None, tuple(sizes))
        if call.operation is Operation.GET and not nonblocking:
            yield Recorded(rank, commands.Wait(queue), span)

    def _atomic(self, rank: int, call: Call, named: dict[str, int], span: Span) -> Iterator[Recorded]:
        if named["update"] not in onesided.UPDATES:
            raise self._not_supported(rank, call)
        yield from self._met(rank, named, span)
        by_value = self._trace.api == 1 and not call.flags & NONBLOCKING and call.flags & FETCHING
        queue = None if by_value else self._queue_of(rank, call, named)
        ends = onesided.Ends(partial(self._target, rank, named), partial(self._places.local, rank))
        for command, *sizes in onesided.atomic(call, named, ends, queue, located=self._trace.api == 2):
            yield Recorded(rank, command, span, None, tuple(sizes))

    def _wait_until(
        self, rank: int, call: Call, named: dict[str, int], results: tuple[int, ...], span: Span
    ) -> Iterator[Recorded]:
        size = named["element"]
        if named["status"] or named["mode"] == 3:
            raise self._not_supported(rank, call)
        elements = list(range(named["elements"]))
        passed = call.operation is Operation.WAIT_UNTIL
        if named["mode"] == 2:
            if not results or not 0 <= signed(results[0]) < len(elements):
                raise self._not_supported(rank, call)
            elements = [results[0]]
        elif call.operation is Operation.TEST:
            passed = bool(results and results[0])
        for number in elements:
            at = self._places.at(rank, named["address"] + number * size)
            if at is None or at[0] != rank:
                raise NotSupported(f"{call.function} on memory that is not symmetric, {self._where(call)}")
            where = Const(at[1])
            if passed and call.operation is Operation.WAIT_UNTIL:
                relation = _RELATIONS[named["comparison"]]
                command: Command = commands.Await(where, relation, Const(named["value"]), atomic=call.type or "int")
            else:
                command = commands.Load(_REGISTER, where, polling=True, atomic=call.type or "int")
            yield Recorded(rank, command, span, None, (size,))

    def _where(self, call: Call) -> str:
        span = self._spans.of(call.place)
        return f"in line {span.line}" if span.line else "at a place that is not known"

    def _not_supported(self, rank: int, call: Call) -> NotSupported:
        why = f" ({call.type})" if call.operation is Operation.NOT_KNOWN and call.type else ""
        return NotSupported(
            f"rank {rank} calls {call.function or call.operation.name.lower()}{why}, {self._where(call)}"
        )
