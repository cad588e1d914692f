"""Lowers the calls and accesses of a trace to recorded commands.

As in the C front ends, a call becomes the few commands that do what its library promises (`pgasrob/frontends/apis`). An
unknown call, or an unknown use of one, raises :class:`NotSupported`: no record is ignored.

The commands of a call that wait come when it returns, all others when it is made. Addresses count bytes:
``place << SHIFT | offset``, where a place is a piece of memory that is the same on all ranks (a symmetric object, the
static data of a module, a window), or internal memory of the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.declarations import Source
from pgasrob.program.expressions import Const, Register
from pgasrob.recording import collective_flow, onesided
from pgasrob.recording.events import Recorded
from pgasrob.recording.memory_places import NotSupported, Places
from pgasrob.recording.recorded_accesses import Accesses
from pgasrob.recording.recorded_calls import Made, RankCalls, Request, Spans
from pgasrob.recording.recorded_legality import MPI, NO_PRECEDE, Legality
from pgasrob.recording.recorded_memory import RecordedMemory
from pgasrob.recording.signals import NotSent, Signals
from pgasrob.runtime.record.records import (
    Access,
    Call,
    Contents,
    End,
    EndOfRegion,
    Group,
    Memory,
    Operation,
    Record,
    Region,
    Return,
    signed,
)
from pgasrob.runtime.record.trace_appendix import Appendix
from pgasrob.runtime.record.trace_reader import Log, Trace

WORLD, PLAIN = 1, -1
NONBLOCKING, FETCHING, LOCAL, REQUEST = 1, 2, 8, 16
STANDS_FOR_ALL = -1
_REGISTER = Register("seen", 0)
_RELATIONS = ("==", "!=", ">", "<=", "<", ">=")
_DONE_AT_RETURN = {
    Operation.WAIT_UNTIL, Operation.SET_LOCK, Operation.TEST_LOCK, Operation.TEST, Operation.LOCK, Operation.LOCK_ALL,
}  # fmt: skip
_OF_A_GROUP = (Operation.POST, Operation.START)
_WHOLE_WORD = (1 << 64) - 1


class Lowering:
    """Lowers one trace. ``made_up``: the places internal to a library, ``memory``: what is called how, and what it
    held."""

    def __init__(self, trace: Trace, source: Source, made_up: dict[str, str], program: str) -> None:
        self._trace, self.spans = trace, Spans(trace, source, made_up, program)
        self._ranks = [RankCalls() for _ in range(trace.ranks)]
        self.places = Places(trace.ranks)
        self.made_up = self.places.made_up
        self.memory = RecordedMemory(trace.ranks, self.places, trace.appendix or Appendix())
        self._accesses = Accesses(trace.ranks, self.places, self.memory, self.spans)
        self._queues: dict[tuple[object, ...], int] = {}
        self.ended: set[int] = set()
        """The ranks that have ended by themselves in the events so far."""
        self._all = tuple(range(trace.ranks))
        self._groups: dict[int, tuple[int, ...]] = {WORLD: self._all}
        self._windows: dict[int, tuple[int, ...]] = {}
        self._signals = Signals(self.places.own("signals"))
        self._messages = self.places.own("messages")
        self._brought: dict[tuple[int, int], dict[int, int]] = {}
        self.legality = Legality(trace.ranks) if trace.api == MPI else None

    @property
    def queues(self) -> int:
        return len(self._queues)

    def events(self) -> Iterator[Recorded]:
        """The commands in the order of the run."""
        if self._trace.api == 3:
            raise NotSupported("the program uses both OpenSHMEM and MPI")
        for log, record in self._trace.in_order():
            try:
                yield from self.of(log, record)
            except NotSent as error:
                why = "returned before another rank called what it waits for"
                raise NotSupported(f"{self._latest.function} {why}, {self._where(self._latest)}") from error

    def of(self, log: Log, record: Record) -> Iterator[Recorded]:
        """The commands of the next record."""
        rank = self._ranks[log.rank]
        match record:
            case Access():
                yield from self._accesses.of(log.rank, record)
            case Call():
                if (left := rank.pending) is not None and left.operation in _DONE_AT_RETURN:
                    raise NotSupported(f"{left.function} is not recorded to its end, {self._where(left)}")
                rank.pending = record
                self.memory.called(log.rank, record)
                if record.operation not in _DONE_AT_RETURN:
                    yield from self._call(self._made(log.rank, record, ()))
            case Return():
                call, rank.pending = rank.pending, None
                assert call is not None, "it is that of a call"
                of = self._call if call.operation in _DONE_AT_RETURN else self._returned
                if call.operation is Operation.WINDOW_CREATE:
                    self.memory.names.note_window(record.results[0], call.place)
                yield from of(self._made(log.rank, call, record.results))
            case Region():
                if not self.places.begin(log.rank, record):
                    raise self._trace.damaged("a region that is there already")
                self.memory.begins(log, record)
                self._accesses.forget(log.rank)
            case Contents():
                if self.memory.note(log.rank, record, rank.pending):
                    self._accesses.forget(log.rank)
            case Memory():
                self.memory.names.note(log.rank, record)
            case EndOfRegion():
                self.places.end(log.rank, record.region)
                self._accesses.forget(log.rank)
            case Group(group, members):
                if self._groups.setdefault(group, members) != members:
                    raise self._trace.damaged("a group with other members than before")
            case End():
                self.ended.add(log.rank)

    def next_commands(self) -> Iterator[Recorded]:
        """The next commands of the ranks at the end of the trace: those of calls that had not returned."""
        for rank, each in enumerate(self._ranks):
            if each.pending is not None and each.pending.operation in _DONE_AT_RETURN - {Operation.LOCK_ALL}:
                with suppress(NotSupported, NotSent):
                    yield from list(self._call(self._made(rank, each.pending, ())))[:1]

    def wherever(self, rank: int, call: Call, results: tuple[int, ...], places: Places) -> Iterator[Recorded]:
        """The commands of a call whose addresses are those of these ``places``."""
        own, self.places = self.places, places
        try:
            yield from self._call(self._made(rank, call, results))
        finally:
            self.places = own

    def noted_of(self, rank: int) -> object:
        """What is noted of the calls of a rank so far, to be compared."""
        return self._ranks[rank].noted(), self.legality and self.legality.noted_of(rank)

    # Records

    def _queue(self, *what: object) -> Const:
        return Const(self._queues.setdefault(what, len(self._queues)))

    def _made(self, rank: int, call: Call, results: tuple[int, ...]) -> Made:
        self._latest = call
        return Made(rank, call, call.named(), results, self.spans.of_call(call.place, call.function))

    def _call(self, made: Made) -> Iterator[Recorded]:
        """The commands of a call when it is made; for the operations of `_DONE_AT_RETURN`, when it returns."""
        rank, named, operation = made.rank, made.named, made.call.operation
        if self.legality is not None:
            self.legality.look_at(made, self._members(made, "group") if operation in _OF_A_GROUP else ())
        match operation:
            case Operation.PUT | Operation.GET | Operation.PUT_SIGNAL:
                yield from self._transfer(made)
            case Operation.ATOMIC:
                yield from self._atomic(made)
            case Operation.WAIT_UNTIL | Operation.TEST:
                yield from self._wait_until(made)
            case Operation.FENCE:
                yield made.event(commands.Fence(self._queue(rank, named["queue"]), None))
            case Operation.QUIET | Operation.CONTEXT_DESTROY:
                yield made.event(commands.Wait(self._queue(rank, named["queue"])))
            case Operation.COLLECTIVE:
                yield from self._collective(made)
            case Operation.SEND:
                yield from self._send(made)
            case Operation.RECEIVE:
                yield from self._receive(made)
            case Operation.REQUEST_FREE:
                request = self._ranks[rank].requests.pop(named["request"], None)
                if request is None or request.keys:
                    raise self._not_supported(made)
            case Operation.COMMUNICATOR:
                if made.call.function == "MPI_Comm_split":  # each rank needs the colours of all
                    yield from self._arrive(made, self._members(made, "parent"), "split", named["parent"])
            case Operation.INITIALISE:
                yield made.event(commands.Barrier("begin"))
            case Operation.ALLOCATE | Operation.FREE | Operation.FINALISE:
                if self._trace.api == 1:
                    yield made.event(commands.Wait(self._queue(rank, 0)))
                yield made.event(commands.Barrier("world" if operation is not Operation.FINALISE else "end"))
            case Operation.SET_LOCK | Operation.TEST_LOCK | Operation.CLEAR_LOCK:
                yield from self._symmetric_lock(made)
            case Operation.WAIT | Operation.TEST_EXPOSURE | Operation.COMPLETE_REQUESTS | Operation.PROBE:
                pass  # when it returns
            case Operation.WINDOW_SYNC | Operation.POINTER | Operation.CONTEXT_CREATE | Operation.EXIT:
                pass
            case _:
                yield from self._window_call(made)

    def _symmetric_lock(self, made: Made) -> Iterator[Recorded]:
        """A lock of OpenSHMEM is a cell of rank 0 that is 1 while it is held (1.5, 9.12)."""
        rank, operation = made.rank, made.call.operation
        lock = Const(self.places.own("lock", self.places.remote(rank, 0, made.named["address"])))
        if operation is Operation.CLEAR_LOCK:
            yield made.event(commands.Wait(self._queue(rank, 0)))
            yield made.event(commands.FetchAdd(_REGISTER, Const(0), lock, Const(-1)), 1)
        elif operation is Operation.TEST_LOCK and made.results and made.results[0]:
            yield made.event(commands.Fetch(_REGISTER, Const(0), lock), 1)  # another rank holds it
        else:
            yield made.event(commands.AwaitAdd(Const(0), lock, "==", Const(0), Const(1)), 1)

    def _window_call(self, made: Made) -> Iterator[Recorded]:
        """A call that synchronises on a window (MPI 4.1, 12.5)."""
        rank, named, operation = made.rank, made.named, made.call.operation
        match operation:
            case Operation.POST:
                window, origins = named["window"], self._members(made, "group")
                self._ranks[rank].epochs["posted", window] = origins
                for origin in origins:
                    yield made.event(self._signals.send(origin, "post", window, rank, origin), 1)
            case Operation.START:
                self._ranks[rank].epochs["started", named["window"]] = self._members(made, "group")
            case Operation.COMPLETE:
                window = named["window"]
                targets = self._ranks[rank].epochs.pop(("started", window), ())
                for target in targets:
                    yield from self._complete(made, target, local=True)
                for target in targets:
                    queue = self._window_queue(rank, window, target)
                    number = self._signals.number("complete", window, rank, target)
                    cell = self._signals.cell("complete", window, rank, target, number)
                    yield made.event(commands.Notify("add", Const(1), Const(target), cell, queue), 1)
            case Operation.WINDOW_CREATE:
                yield from self._arrive(made, self._members(made, "group"), "window", named["group"])
            case Operation.WINDOW_FREE | Operation.WINDOW_FENCE:
                yield from self._window_fence(made)
            case Operation.LOCK | Operation.LOCK_ALL:
                exclusive = named.get("exclusive_or_shared") == 1
                for target in self._targets(made):
                    lock = Const(self.places.own("window", named["window"], target))
                    test, add = ("==", -1) if exclusive else (">=", 1)
                    yield made.event(commands.AwaitAdd(Const(target), lock, test, Const(0), Const(add)), 1)
                    if exclusive:
                        self._ranks[rank].exclusive.add((named["window"], target))
            case Operation.UNLOCK | Operation.UNLOCK_ALL:
                held = self._ranks[rank].exclusive
                for target in self._targets(made):
                    yield from self._complete(made, target)
                    lock = Const(self.places.own("window", named["window"], target))
                    change = 1 if (named["window"], target) in held else -1
                    yield made.event(commands.FetchAdd(_REGISTER, Const(target), lock, Const(change)), 1)
                    held.discard((named["window"], target))
            case Operation.FLUSH:
                yield from self._complete(made, named["rank"], local=bool(made.call.flags & LOCAL))
            case _:
                raise self._not_supported(made)

    def _window_fence(self, made: Made) -> Iterator[Recorded]:
        """A fence with MPI_MODE_NOPRECEDE need not wait for the other ranks: these wait for it before they access the
        memory of this one (MPI 4.1, 12.5.1)."""
        rank, window = made.rank, made.named["window"]
        alone = made.call.operation is Operation.WINDOW_FENCE and made.named["assertion"] & NO_PRECEDE
        yield from self._complete(made, STANDS_FOR_ALL)
        for member, number in self._ranks[rank].unmet.pop(window, {}).items():
            if alone:
                yield made.event(self._signals.receive("fence", window, member, rank, number), 1)
        if not alone:
            yield from self._arrive(made, self._of_window(made), "fence of all", window)
            return
        number = self._signals.number("fences", window, rank)
        others = [member for member in self._of_window(made) if member != rank]
        for member in others:
            yield made.event(self._signals.send(member, "fence", window, rank, member, number), 1)
        self._ranks[rank].unmet[window] = dict.fromkeys(others, number)

    def _returned(self, made: Made) -> Iterator[Recorded]:
        """The commands of a call when it returns: its waits, and accesses after these."""
        rank, named, results, signals = made.rank, made.named, made.results, self._signals
        match made.call.operation:
            case Operation.COLLECTIVE:
                yield from self._collected(made)
            case Operation.WINDOW_CREATE:
                members = self._windows[results[0]] = self._members(made, "group")
                yield from self._depart(made, members, "window", named["group"])
            case Operation.COMMUNICATOR:
                if made.call.function == "MPI_Comm_split":
                    yield from self._depart(made, self._members(made, "parent"), "split", named["parent"])
            case Operation.WINDOW_FREE | Operation.WINDOW_FENCE:
                if named["window"] not in self._ranks[rank].unmet:
                    yield from self._depart(made, self._of_window(made), "fence of all", named["window"])
            case Operation.START:
                for target in self._ranks[rank].epochs["started", named["window"]]:
                    yield made.event(signals.receive("post", named["window"], target, rank), 1)
            case Operation.WAIT | Operation.TEST_EXPOSURE:
                if made.call.operation is Operation.TEST_EXPOSURE:
                    if not results[0]:
                        return
                    if self.legality is not None:
                        self.legality.look_at(made)
                for origin in self._ranks[rank].epochs.pop(("posted", named["window"]), ()):
                    number = signals.number("completed", named["window"], origin, rank)
                    yield made.event(signals.receive("complete", named["window"], origin, rank, number), 1)
            case Operation.RECEIVE:
                if not made.call.flags & REQUEST:
                    sender, tag, size = map(signed, results)
                    way = ("message", named["group"], sender, rank, tag)
                    yield made.event(signals.receive(*way, signals.number("received", *way)), 1)
                    yield from self._touched(made, ((named["address"], size),), writes=True)
            case Operation.PROBE:
                found, sender, tag = map(signed, results[:3])
                if found and sender < 0:
                    raise NotSupported(f"{made.call.function} without a status, {self._where(made.call)}")
                if found:
                    way = ("message", named["group"], sender, rank, tag)
                    yield made.event(signals.look(*way, signals.last("received", *way) + 1), 1)
            case Operation.COMPLETE_REQUESTS:
                for identity in results[::4]:
                    yield from self._completed(made, identity)
            case _:
                return

    # Groups

    def _members(self, made: Made, group: str) -> tuple[int, ...]:
        found = self._groups.get(made.named[group] & _WHOLE_WORD)
        if found is not None and (made.rank in found or made.call.operation in _OF_A_GROUP):
            return found
        raise NotSupported(f"{made.call.function}, of ranks that are not known, {self._where(made.call)}")

    def _of_window(self, made: Made) -> tuple[int, ...]:
        if (found := self._windows.get(made.named["window"])) is not None and made.rank in found:
            return found
        raise NotSupported(f"{made.call.function}, on a window that is not known, {self._where(made.call)}")

    def _arrive(self, made: Made, members: tuple[int, ...], *what: object) -> Iterator[Recorded]:
        """The first half of a barrier of ``members``; that of the world needs no second one."""
        if len(members) == len(self._all):
            yield made.event(commands.Barrier("world"))
            return
        number = self._signals.number(made.rank, *what)
        for member in members:
            if member != made.rank:
                yield made.event(self._signals.send(member, *what, number, made.rank, member), 1)

    def _depart(self, made: Made, members: tuple[int, ...], *what: object) -> Iterator[Recorded]:
        """The second half of a barrier of ``members``: waits for the signals of all others."""
        if len(members) < len(self._all):
            number = self._signals.last(made.rank, *what)
            for member in members:
                if member != made.rank:
                    yield made.event(self._signals.receive(*what, number, member, made.rank), 1)

    # Collectives

    def _flow(self, made: Made) -> tuple[tuple[int, ...], collective_flow.Flow]:
        members, named = self._members(made, "group"), made.named
        brought = None
        if named["kind"] == collective_flow.COLLECT:
            so_far = self._brought.setdefault((named["group"], named["which"]), {})
            so_far[made.rank] = named["elements"]
            brought = sum(so_far.values())
        found = collective_flow.flow(made.rank, members, named, brought)
        if found is None or (named["kind"] == collective_flow.SCAN_BEFORE and self._trace.api == 1):
            raise self._not_supported(made)
        return members, found

    def _collective(self, made: Made) -> Iterator[Recorded]:
        rank, named = made.rank, made.named
        members, flow = self._flow(made)
        key = ("collective", named["group"], named["which"])
        if made.call.flags & REQUEST:
            if named["kind"] != collective_flow.SYNC:
                raise self._not_supported(made)
            others = [member for member in members if member != rank]
            for member in others:
                yield made.event(self._signals.send(member, *key, rank, member), 1)
            keys = tuple((*key, member, rank) for member in others)
            self._ranks[rank].requests[named["request"]] = Request(keys=keys)
            return
        if named["kind"] == collective_flow.BARRIER:
            yield made.event(commands.Wait(self._queue(rank, 0)))
        if named["kind"] == collective_flow.BROADCAST and self._trace.api == 1:
            yield from self._broadcast(made, flow)
            return
        yield from self._touched(made, flow.reads)
        if flow.waits_for_all:
            yield from self._arrive(made, members, "collective of all", named["group"])
        for member in flow.sends_to:
            yield made.event(self._signals.send(member, *key, rank, member), 1)

    def _collected(self, made: Made) -> Iterator[Recorded]:
        named = made.named
        members, flow = self._flow(made)
        if flow.waits_for_all:
            yield from self._depart(made, members, "collective of all", named["group"])
        for member in flow.receives_from:
            key = ("collective", named["group"], named["which"], member, made.rank)
            yield made.event(self._signals.receive(*key), 1)
        if named["kind"] != collective_flow.BROADCAST or self._trace.api != 1:
            yield from self._touched(made, flow.writes, writes=True)

    def _broadcast(self, made: Made, flow: collective_flow.Flow) -> Iterator[Recorded]:
        """The root puts into the destinations of the others, with a signal each, and goes on (OpenSHMEM 1.5, 9.9.4)."""
        rank, named = made.rank, made.named
        queue = self._queue(rank, "broadcast")
        if flow.sends_to:
            yield made.event(commands.Fence(queue, None))
        for member in flow.sends_to:
            yield made.event(commands.Bundle())
            for source, size in flow.reads:
                local, to = self.places.local(rank, source), self.places.remote(rank, member, named["destination"])
                if size:
                    yield made.event(commands.Put(Const(local), Const(member), Const(to), queue), size, size)
            cell = self._signals.cell("collective", named["group"], named["which"], rank, member)
            yield made.event(commands.Signal("add", Const(1), Const(member), cell, queue), 1)

    def _touched(self, made: Made, pieces: tuple[tuple[int, int], ...], *, writes: bool = False) -> Iterator[Recorded]:
        """The loads or stores that the library itself makes to these ``pieces``."""
        for address, size in pieces:
            at = self.places.at(made.rank, address)
            if at is None or not size:
                continue
            owner, place = at
            where, to = Const(place), None if owner == made.rank else Const(owner)
            value = self.memory.arrived(made.rank, address, size) if writes else 0
            made_so = commands.Store(where, Const(value), to) if writes else commands.Load(_REGISTER, where, to)
            yield made.event(made_so, size)

    # Messages

    def _send(self, made: Made) -> Iterator[Recorded]:
        """A nonblocking send reads its buffer at any time until it is waited for."""
        named = made.named
        if named["mode"] == 2:
            raise self._not_supported(made)
        piece = (named["address"], named["bytes"])
        way = ("message", named["group"], made.rank, named["rank"], named["tag"])
        if made.call.flags & REQUEST:
            yield from self._in_use(made, piece, ())
        else:
            yield from self._touched(made, (piece,))
        number = self._signals.number("sent", *way)
        yield made.event(self._signals.send(named["rank"], *way, number), 1)

    def _receive(self, made: Made) -> Iterator[Recorded]:
        """A nonblocking receive writes its buffer at any time until it is waited for (MPI 4.1, 3.7.2)."""
        named = made.named
        if not made.call.flags & REQUEST:
            return
        if named["rank"] < 0 or named["tag"] < 0:
            raise self._not_supported(made)
        way = ("message", named["group"], named["rank"], made.rank, named["tag"])
        key = (*way, self._signals.number("received", *way))
        yield from self._in_use(made, (named["address"], named["bytes"]), (key,), writes=True)

    def _in_use(
        self, made: Made, piece: tuple[int, int], keys: tuple[tuple[object, ...], ...], *, writes: bool = False
    ) -> Iterator[Recorded]:
        """An access to a buffer that stays pending until the request is completed: a copy to or from the library."""
        rank, request = made.rank, made.named["request"]
        ranks, (address, size) = self._ranks[rank], piece
        at = self.places.at(rank, address)
        if at is None or at[0] != rank or not size:
            yield from self._touched(made, (piece,), writes=writes)
            ranks.requests[request] = Request(keys=keys)
            return
        number = next(number for number in range(len(ranks.numbers) + 1) if number not in ranks.numbers)
        ranks.numbers.add(number)
        queue = self._queue(rank, "request", number)
        ranks.requests[request] = Request(queue, number, keys=keys)
        copy = commands.Read if writes else commands.Write
        command = copy(Const(at[1]), Const(rank), Const(self._messages), queue)
        self._messages += size
        yield made.event(command, size, size)

    def _completed(self, made: Made, identity: int) -> Iterator[Recorded]:
        ranks = self._ranks[made.rank]
        request = ranks.requests.pop(identity, None)
        if request is None:
            raise self._not_supported(made)
        for key in request.keys:
            yield made.event(self._signals.receive(*key), 1)
        if request.queue is not None:
            wait = commands.WaitLocal if request.local else commands.Wait
            yield made.event(wait(request.queue))
            if not request.local:
                ranks.numbers.discard(request.number)

    # One-sided operations

    def _targets(self, made: Made) -> tuple[int, ...]:
        return (made.named["rank"],) if "rank" in made.named else self._of_window(made)

    def _complete(self, made: Made, target: int, *, local: bool = False) -> Iterator[Recorded]:
        """The waits that complete the operations on the window to this ``target``, or to all."""
        rank, window = made.rank, made.named["window"]
        for each, number in sorted(self._ranks[rank].used.get(window, ())):
            if target in (STANDS_FOR_ALL, each):
                queue = self._queue(rank, window, each, number)
                yield made.event(commands.WaitLocal(queue) if local else commands.Wait(queue))

    def _window_queue(self, rank: int, window: int, target: int, number: int = PLAIN) -> Const:
        self._ranks[rank].used.setdefault(window, set()).add((target, number))
        return self._queue(rank, window, target, number)

    def _queue_of(self, made: Made) -> Const:
        rank, named = made.rank, made.named
        if self._trace.api == 1:
            return self._queue(rank, named["queue"])
        window, target = named["queue"], named["rank"]
        if not made.call.flags & REQUEST:
            return self._window_queue(rank, window, target)
        ranks = self._ranks[rank]
        taken = {each.number for each in ranks.requests.values() if each.window == (window, target)}
        number = next(number for number in range(len(taken) + 1) if number not in taken)
        queue = self._window_queue(rank, window, target, number)
        ranks.requests[named["request"]] = Request(queue, number, True, window=(window, target))
        return queue

    def _fence_of_target(self, made: Made) -> Iterator[Recorded]:
        """The wait for the fence of the target before the first access to its memory, where that fence is not a barrier
        (MPI 4.1, 12.5.1)."""
        rank, named = made.rank, made.named
        unmet = self._ranks[rank].unmet.get(named["queue"]) if self._trace.api == 2 else None
        if unmet and named["rank"] in unmet:
            number = unmet.pop(named["rank"])
            yield made.event(self._signals.receive("fence", named["queue"], named["rank"], rank, number), 1)

    def _ends(self, made: Made) -> onesided.Ends:
        return onesided.Ends(partial(self._target, made), partial(self.places.local, made.rank))

    def _target(self, made: Made) -> int:
        named = made.named
        if self._trace.api == 1:
            return self.places.remote(made.rank, named["rank"], named["remote"])
        return self.places.in_window(named["rank"], named["queue"], named["remote"])

    def _transfer(self, made: Made) -> Iterator[Recorded]:
        call = made.call
        if call.operation is Operation.PUT_SIGNAL:
            raise self._not_supported(made)
        yield from self._fence_of_target(made)
        queue = self._queue_of(made)
        nonblocking = bool(call.flags & NONBLOCKING) or self._trace.api == 2
        if call.operation is Operation.GET and not nonblocking:
            queue = self._queue(made.rank, "blocking")
        for command, *sizes in onesided.transfer(call, made.named, self._ends(made), queue, nonblocking):
            yield self.memory.typed(made.event(command, *sizes), call)
        if call.operation is Operation.GET and not nonblocking:
            yield made.event(commands.Wait(queue))

    def _atomic(self, made: Made) -> Iterator[Recorded]:
        call = made.call
        if made.named["update"] not in onesided.UPDATES:
            raise self._not_supported(made)
        yield from self._fence_of_target(made)
        by_value = self._trace.api == 1 and not call.flags & NONBLOCKING and call.flags & FETCHING
        queue = None if by_value else self._queue_of(made)
        for command, *sizes in onesided.atomic(call, made.named, self._ends(made), queue, located=self._trace.api == 2):
            yield self.memory.typed(made.event(command, *sizes), call)

    def _wait_until(self, made: Made) -> Iterator[Recorded]:
        rank, call, named, results = made.rank, made.call, made.named, made.results
        size = named["element"]
        if named["status"] or named["mode"] == 3:
            raise self._not_supported(made)
        elements: Sequence[int] = range(named["elements"])
        passed = call.operation is Operation.WAIT_UNTIL
        if named["mode"] == 2:
            if not results or not 0 <= signed(results[0]) < len(elements):
                raise self._not_supported(made)
            elements = [results[0]]
        elif call.operation is Operation.TEST:
            passed = bool(results and results[0])
        for number in elements:
            at = self.places.at(rank, named["address"] + number * size)
            if at is None or at[0] != rank:
                raise NotSupported(f"{call.function} on memory that is not symmetric, {self._where(call)}")
            where, atomic, relation = Const(at[1]), call.type or "int", _RELATIONS[named["comparison"]]
            command: Command = commands.Load(_REGISTER, where, polling=True, atomic=atomic)
            if passed and call.operation is Operation.WAIT_UNTIL:
                command = commands.Await(where, relation, Const(named["value"]), atomic=atomic)
            yield self.memory.typed(made.event(command, size), call)

    def _where(self, call: Call) -> str:
        span = self.spans.of_call(call.place, call.function)
        return f"in line {span.line}" if span.line else "at a place that is not known"

    def _not_supported(self, made: Made) -> NotSupported:
        call = made.call
        why = f" ({call.type})" if call.operation is Operation.NOT_KNOWN and call.type else ""
        what = call.function or call.operation.name.lower()
        return NotSupported(f"rank {made.rank} calls {what}{why}, {self._where(call)}")
