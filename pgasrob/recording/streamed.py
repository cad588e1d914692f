"""Reads a trace natively and finds the segments that have to be looked at closely: those with a race or an attack.

The kernel reads the records, keeps track of memory, and knows what a call does once the same call has been made before;
all other calls are lowered here. What it cannot read, or is in doubt about, is left to `recorded_answers`, which goes
through the whole trace by itself (`proofs/recorded-traces.md`, section 8).
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pgasrob.program.declarations import Source
from pgasrob.program.reading import Reading
from pgasrob.recording.events import Recorded
from pgasrob.recording.lowering import Lowering
from pgasrob.recording.memory_places import SHIFT, NotSupported, Places
from pgasrob.recording.native_recordings import LIMIT, Encoder
from pgasrob.recording.recorded_accesses import STORING, accessing
from pgasrob.recording.recorded_calls import Instruction
from pgasrob.recording.signals import NotSent
from pgasrob.recording.trace_segments import MASK, may_be_cut
from pgasrob.robustness.watch import LimitReached, Watch
from pgasrob.runtime.record.records import OPERANDS, Access, Call, Kind, Record, Region, TraceError
from pgasrob.runtime.record.trace_reader import Log, Trace
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob._kernel import Streamed

T = TypeVar("T")
_Commands = tuple[bytes, bytes, bytes, int | None]
"""Commands as words, their ends, which of them may be done piece by piece, and the barrier that comes last."""
_ADDRESSES = ("remote", "local", "expected_at", "result", "address")
"""The operands with an address, by the numbers of bases in the kernel, from 1 on."""
_APART = 40
"""Made-up addresses of these operands differ from this bit on."""
_MADE_UP_PLACE = 1 << 20
_ATOMIC_FLAGS = 0x30


@dataclass
class Found:
    """What was found in a trace. ``fresh``: the numbers of the segments with a race in lines between which there was
    none before, or that were not looked at to the end; ``attacked``: of those where an attack may hide. ``events``: how
    many commands there are, ``legality``: the calls that are not allowed."""

    lowering: Lowering
    fresh: set[int] = field(default_factory=set)
    attacked: set[int] = field(default_factory=set)
    events: int = 0


class _LeftAlone(Exception):
    """The trace has something that is not read here."""


def scan(
    trace: Trace,
    source: Source,
    program: str,
    watch: Watch | None,
    reading: Reading,
    attacks: bool = False,
    strict: bool = False,
) -> Found | None:
    """Go through the ``trace``, or say that it has to be read otherwise. Raises :class:`LimitReached`."""
    logs = trace.logs()
    whole = trace.is_whole and [(log.rank, log.thread) for log in logs] == [(rank, 0) for rank in range(trace.ranks)]
    if not whole or trace.api not in (1, 2) or any(log.lost for log in logs):
        return None
    looks = attacks, strict, reading.conflicts == "all"
    try:
        return _Scan(trace, logs, Lowering(trace, source, {}, program), watch, reading, looks).found()
    except (_LeftAlone, NotSupported, NotSent, TraceError):
        return None


class _Scan:
    def __init__(
        self,
        trace: Trace,
        logs: Sequence[Log],
        lowering: Lowering,
        watch: Watch | None,
        reading: Reading,
        looks: tuple[bool, bool, bool],
    ) -> None:
        from pgasrob._kernel import Streamed

        self._logs, self._lowering, self._watch, self._strict = logs, lowering, watch, looks[1]
        self._chunks = [iter(log.starts) for log in logs]
        self._trace, self._rows = trace, _Rows(lowering, reading)
        private = [lowering.places.place("buffer", rank, 0) for rank in range(trace.ranks)]
        counts = [len(log.starts) for log in logs]
        self._kernel: Streamed = Streamed(counts, private, trace.clock, trace.api == 1, looks)
        self._excluded: tuple[int, bytes] = 0, b""

    def found(self) -> Found:
        found, number = Found(self._lowering), 0
        kernel = self._kernel
        while True:
            stop_point()
            needed, rank, one, other, first, second = self._native(kernel.run)
            if needed == "done":
                break
            if needed == "segment":
                done, fresh, attacked = self._look()
                if fresh or not done:
                    found.fresh.add(number)
                if attacked or not done:
                    found.attacked.add(number)
                number += 1
                continue
            log = self._logs[rank]
            if needed == "chunk":
                self._native(kernel.give, rank, self._trace.chunk(next(self._chunks[rank])).tobytes())
                self._look_around()
            elif needed == "record":
                self._record(log, first)
            elif needed == "call":
                self._call(log, first, second)
            else:
                self._native(kernel.form, rank, one, other, *self._form(log, one, other))
        found.events = kernel.events
        return found

    def _native(self, do: Callable[..., T], *arguments: object) -> T:
        try:
            return do(*arguments)
        except ValueError as error:
            raise _LeftAlone(str(error)) from None

    def _look_around(self) -> None:
        if self._watch is not None:
            self._watch.look_around("recorded", self._kernel.kept)

    def _look(self) -> tuple[bool, bool, bool]:
        facts = self._rows.facts
        if facts != self._excluded[0]:
            self._excluded = facts, self._rows.excluded(self._strict)
        timeout = None if self._watch is None else self._watch.limits.timeout
        until = None if timeout is None or self._watch is None else self._watch.started + timeout
        seconds = None if until is None else until - time.monotonic()
        answers: tuple[bool, bool, bool] = self._native(self._kernel.look, self._excluded[1], LIMIT, seconds)
        if not answers[0] and until is not None and self._watch is not None and time.monotonic() > until:
            raise LimitReached(self._watch.late())
        self._look_around()
        return answers

    def _record(self, log: Log, words: bytes) -> None:
        """A record that the kernel leaves to this side."""
        record = _decoded(log, words)
        if record is None:
            self._native(self._kernel.seen, log.rank, None, None, words[0] != Kind.STRING)
            return
        for unseen in self._kernel.unseen(log.rank):
            buffer = _decoded(log, unseen)
            assert buffer is not None
            list(self._lowering.of(log, buffer))
        place = self._lowering.places.place(record.kind, record.identity) if isinstance(record, Region) else None
        commands, neutral = self._words_of(log.rank, self._lowering.of(log, record))
        self._native(self._kernel.seen, log.rank, commands, place, neutral)

    def _call(self, log: Log, words: bytes, returned: bytes) -> None:
        """What a call does, whatever its addresses are."""
        call = _decoded(log, words)
        assert isinstance(call, Call)
        results = tuple(memoryview(returned).cast("Q")[2:])
        operands = list(call.operands)
        for place, name in enumerate(OPERANDS[call.operation]):
            if name in _ADDRESSES and (operands[place] or name == "remote"):
                operands[place] = _ADDRESSES.index(name) << _APART
        events = self._lowering.wherever(log.rank, call._replace(operands=tuple(operands)), results, _Anywhere())
        commands, neutral = self._words_of(log.rank, events)
        self._native(self._kernel.does, log.rank, words, commands, neutral)

    def _words_of(self, rank: int, events: Iterator[Recorded]) -> tuple[_Commands, bool]:
        """The events as the kernel reads them, and whether what the rank does later is not changed by them."""
        before = self._lowering.noted_of(rank)
        found = list(events)
        for event in found:
            if isinstance(event.span.line, Instruction) or not event.span.line:
                raise _LeftAlone("a place without a line")
        return self._rows.commands(found), before == self._lowering.noted_of(rank)

    def _form(self, log: Log, pc: int, what: int) -> tuple[bytes, bool]:
        kind, flags, foreign = Kind(what & 0xFF), what >> 8 & _ATOMIC_FLAGS, bool(what >> 16)
        access = Access(kind, flags, 0, 1, log.place(pc))
        owner = (log.rank + 1) % self._trace.ranks if foreign else log.rank
        command = accessing(access, log.rank, owner, _MADE_UP_PLACE << SHIFT)
        span = self._lowering.spans.of_access(access.place, "", kind in STORING)
        (words, _, cut, _), _ = self._words_of(log.rank, iter([Recorded(log.rank, command, span, None, (1,))]))
        return words, bool(cut[0])


def _decoded(log: Log, words: bytes) -> Record | None:
    return log.decoded(memoryview(words).cast("Q"))


class _Anywhere(Places):
    """Memory in which made-up addresses of operands are places of their own."""

    def __init__(self) -> None:
        super().__init__(0)

    def _at(self, address: int) -> int:
        base, further = divmod(address, 1 << _APART)
        return (_MADE_UP_PLACE + 1 + base) << SHIFT | further

    def remote(self, rank: int, target: int, address: int) -> int:
        return self._at(address)

    def in_window(self, target: int, window: int, offset: int) -> int:
        return self._at(offset)

    def local(self, rank: int, address: int) -> int:
        return self._at(address)

    def at(self, rank: int, address: int) -> tuple[int, int]:
        return rank, self._at(address)


class _Rows(Encoder):
    """The commands of calls as rows of numbers in which an access has the number of its end instead of a cell."""

    def __init__(self, lowering: Lowering, reading: Reading) -> None:
        self._begin(reading)
        self._lowering = lowering
        self._unordered = range(1 << 62)
        self._ends = array("q")
        self._sizes: Iterator[int] = iter(())
        self._barriers: dict[str, int] = {}

    @property
    def facts(self) -> int:
        return len(self._facts)

    def commands(self, events: Sequence[Recorded]) -> _Commands:
        self._ends, words, barrier = array("q"), array("q"), None
        for event in events:
            self._sizes = iter(event.sizes)
            words.extend(self._row(event))
            if event.command.kind == "barrier":
                barrier = self._barriers.setdefault(event.command.name, len(self._barriers))
        cut = bytes(may_be_cut(event.command) for event in events)
        return words.tobytes(), self._ends.tobytes(), cut, barrier

    def _cell(self, owner: int, address: int) -> int:
        size = next(self._sizes, None)
        if size is None:
            raise _LeftAlone("an access of no size")
        place, offset = address >> SHIFT, address & MASK
        base = max(0, place - _MADE_UP_PLACE)
        self._ends.extend((owner, base, offset if place >= _MADE_UP_PLACE else address, size))
        return len(self._ends) // 4 - 1

    def _is_made_up(self, address: int) -> bool:
        return address >> SHIFT in self._lowering.made_up
