"""The analysis of MUST-RMA on one recorded order: concurrent regions by vector clocks.

S. Schwitanski, J. Jenke, F. Tomski, C. Terboven, M. S. Müller, *On-the-Fly Data Race Detection for MPI RMA Programs
with MUST*, Correctness 2022, sections III to V. It is here to be compared with the exact answer: it gives false alarms
where origins synchronise without the target, and misses what another order of synchronisation would show.

Where the paper is silent it is read as follows. Two events are concurrent when neither happens before the other
(definition 1). Before anything was received from the target the last signal is the beginning of the run. The ends of a
region are outside of it; two regions overlap when the later beginning is before the earlier end. Clocks are exchanged
by barriers, fences, messages, post and start, complete and wait, and not by locks. Two operations are let off when both
are made under an exclusive lock of the target. Of one origin's operations one has to be complete at the target before
the other is issued. An accumulate conflicts with a load and a get even if it only reads (Table I).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import inf
from typing import Literal, NamedTuple

from pgasrob.program import commands, core
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import Span
from pgasrob.recording.events import Recorded, Recording, value_of
from pgasrob.recording.straight import in_turn
from pgasrob.robustness.watch import Watch

BETWEEN_LOOKS = 4_096
"""Events and pairs of accesses between two looks at the limits."""
LOCK = "_lock"
"""How the names of made-up memory end in which a lock is."""

Kind = Literal["load", "store", "get", "put", "accumulate"]
_WRITING: frozenset[Kind] = frozenset(("store", "put"))


def conflict(one: Kind, other: Kind) -> bool:
    """Table I; a buffer that is read counts as loaded, one that is written as stored."""
    if one == "accumulate" or other == "accumulate":
        return one != other
    return one in _WRITING or other in _WRITING


class Alarm(NamedTuple):
    """What is reported: where the two accesses stand in the source, and the cell: whose memory, and its address."""

    spans: tuple[Span, Span]
    owner: int
    address: int

    @property
    def lines(self) -> tuple[int, int]:
        """The pair of lines, the earlier first."""
        first, second = sorted(span.line for span in self.spans)
        return first, second


@dataclass(slots=True)
class _Operation:
    """An RMA operation of ``origin``, its ``number`` th event; ``under``: the exclusive locks that it was made under.
    ``local`` and ``remote``: the origin's events that complete it there, None so far."""

    origin: int
    number: int
    span: Span
    target: int
    queue: int
    under: frozenset[tuple[int, int]]
    known: int
    local: int | None = None
    remote: int | None = None


class _Access(NamedTuple):
    """An access at ``begin`` < its time < ``end``, in the events of the process whose memory it is to; of a load or
    store both are its event."""

    kind: Kind
    span: Span
    begin: float
    end: float
    operation: _Operation | None
    remote: bool


def alarms(recording: Recording, watch: Watch | None = None) -> list[Alarm]:
    """What MUST-RMA reports of the recorded order, one for each pair of lines, in the order of the cells."""
    return list(_Analysis(recording, watch).alarms())


class _Analysis:
    def __init__(self, recording: Recording, watch: Watch | None) -> None:
        nodes, self._watch, self._looked = recording.nodes, watch, 0
        self._objects = {
            address: memory
            for memory in recording.memory
            for address in range(memory.address, memory.address + memory.cells)
        }
        self._clocks = [[0] * nodes for _ in range(nodes)]
        # Of each process and each other one the events at which it learned more of that, and how much it knew then.
        self._heard: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._signals: dict[tuple[int, int], list[int]] = {}
        self._held: list[set[tuple[int, int]]] = [set() for _ in range(nodes)]
        self._open: list[list[_Operation]] = [[] for _ in range(nodes)]
        self._points: dict[tuple[int, int], list[_Access]] = defaultdict(list)
        self._made: list[tuple[int, int, Kind, _Operation, bool]] = []
        for events in in_turn(recording):
            self._look()
            if events[0].command.kind == "barrier":
                self._barrier()
            else:
                self._event(events[0])

    def _look(self) -> None:
        """Look at the limits, now and then."""
        self._looked += 1
        if self._watch is not None and self._looked % BETWEEN_LOOKS == 0:
            self._watch.look_around("must-rma", 0)

    # One order

    def _barrier(self) -> None:
        for rank, clock in enumerate(self._clocks):
            clock[rank] += 1
        joined = [max(counts) for counts in zip(*self._clocks, strict=True)]
        for rank in range(len(self._clocks)):
            self._learn(rank, joined)

    def _learn(self, rank: int, clock: Iterable[int]) -> None:
        own = self._clocks[rank]
        for other, count in enumerate(clock):
            if count > own[other]:
                own[other] = count
                self._heard[rank, other].append((own[rank], count))

    def _event(self, event: Recorded) -> None:
        rank, form = event.rank, core.lower(event.command)
        clock = self._clocks[rank]
        clock[rank] += 1
        match form:
            case core.Immediate(access):
                owner, address = self._cell(rank, access.cell)
                if self._is_made_up(address):
                    self._synchronise(rank, (owner, address), event.command)
                else:
                    kind: Kind = "store" if access.writes else "load"
                    now = clock[rank]
                    if owner == rank:
                        self._points[owner, address].append(_Access(kind, event.span, now, now, None, False))
            case core.Transfer():
                self._transfer(event, form)
            case core.Wait(queue, local):
                self._complete(rank, value_of(queue), None, clock[rank], local)
            case core.Assign() | core.Test() | core.Fence() | core.Bundle() | core.Barrier():
                pass

    def _synchronise(self, rank: int, cell: tuple[int, int], command: commands.Command) -> None:
        """A command on made-up memory: a lock, or one end of a message, a post or a completion."""
        clock = self._clocks[rank]
        if self._objects[cell[1]].name.endswith(LOCK):
            if isinstance(command, commands.AwaitAdd) and command.relation == "==":
                self._held[rank].add(cell)
            elif not isinstance(command, commands.AwaitAdd):
                self._held[rank].discard(cell)
        elif isinstance(command, commands.AwaitAdd | commands.Await):
            operand = value_of(command.operand) if isinstance(command, commands.AwaitAdd) else 0
            if operand > 0:
                self._signals[cell] = clock.copy()
            else:
                self._learn(rank, self._signals.get(cell, ()))
        elif isinstance(command, commands.Fetch | commands.Load):
            pass  # what comes with the message
        else:
            self._signals[cell] = clock.copy()

    def _transfer(self, event: Recorded, form: core.Transfer[core.Place, Expr]) -> None:
        rank, clock = event.rank, self._clocks[event.rank]
        target, queue = value_of(form.rank), value_of(form.queue)
        cells = [self._cell(rank, access.cell) for access in core.accesses_of(form)]
        if any(self._is_made_up(address) for _, address in cells):
            # A notification: what was issued in the queue is complete when it is seen.
            self._complete(rank, queue, target, clock[rank], local=False)
            for cell in cells:
                self._signals[cell] = clock.copy()
            return
        under = frozenset(self._held[rank])
        operation = _Operation(rank, clock[rank], event.span, target, queue, under, clock[target])
        self._open[rank].append(operation)
        for access, place, cell in zip(core.accesses_of(form), _places(form), cells, strict=True):
            remote = place.rank is not None
            kind: Kind = "store" if access.writes else "load"
            if remote:
                kind = "accumulate" if form.update is not None else "put" if access.writes else "get"
            self._made.append((*cell, kind, operation, remote))

    def _complete(self, rank: int, queue: int, target: int | None, now: int, local: bool) -> None:
        """What a wait or a notification completes."""
        left = []
        for operation in self._open[rank]:
            if operation.queue == queue and target in (None, operation.target):
                if operation.local is None:
                    operation.local = now
                if not local:
                    operation.remote = now
                    continue
            left.append(operation)
        self._open[rank] = left

    # Regions

    def alarms(self) -> Iterator[Alarm]:
        regions: dict[tuple[int, int], list[_Access]] = defaultdict(list)
        for owner, address, kind, operation, remote in self._made:
            begin, end = self._region(owner, operation, remote)
            regions[owner, address].append(_Access(kind, operation.span, begin, end, operation, remote))
        known: set[tuple[int, int]] = set()
        for cell, accesses in sorted(regions.items()):
            for one, other in self._met(accesses, self._points.get(cell, [])):
                alarm = Alarm((one.span, other.span), *cell)
                if alarm.lines not in known:
                    known.add(alarm.lines)
                    yield alarm

    def _region(self, owner: int, operation: _Operation, remote: bool) -> tuple[float, float]:
        """The concurrent region, in events of the process whose memory it is: for a buffer from the call to the
        completion at the origin, at the target from the last signal to the next wait (definitions 3 and 4)."""
        if not remote:
            return operation.number, inf if operation.local is None else operation.local
        if owner == operation.origin:
            return operation.number, inf if operation.remote is None else operation.remote
        if operation.remote is None:
            return operation.known, inf
        heard = self._heard[owner, operation.origin]
        place = bisect_left(heard, operation.remote, key=lambda each: each[1])
        return operation.known, heard[place][0] if place < len(heard) else inf

    def _met(self, regions: list[_Access], points: list[_Access]) -> Iterator[tuple[_Access, _Access]]:
        for region in regions:
            first = bisect_left(points, region.begin, key=lambda each: each.begin)
            for point in islice(points, first, None):
                self._look()
                if point.begin >= region.end:
                    break
                if region.begin < point.begin and conflict(region.kind, point.kind):
                    yield region, point
        for one, other in combinations(regions, 2):
            self._look()
            if conflict(one.kind, other.kind) and one.operation is not other.operation and self._overlap(one, other):
                yield one, other

    @staticmethod
    def _overlap(one: _Access, other: _Access) -> bool:
        first, second = one.operation, other.operation
        assert first is not None and second is not None
        if one.remote and other.remote:
            if first.origin == second.origin:
                return first.remote is None or second.number < first.remote
            if any(owner == first.target for owner, _ in first.under & second.under):
                return False
        return max(one.begin, other.begin) < min(one.end, other.end)

    def _cell(self, rank: int, place: core.Place) -> tuple[int, int]:
        return rank if place.rank is None else value_of(place.rank), value_of(place.address)

    def _is_made_up(self, address: int) -> bool:
        return address in self._objects and self._objects[address].made_up


def _places(form: core.Transfer[core.Place, Expr]) -> list[core.Place]:
    return [access.cell for access in core.accesses_of(form)]
