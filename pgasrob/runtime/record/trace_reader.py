"""The one reader of traces: everything that it gives has been checked.

A trace may be damaged, cut off, or made up. Whatever follows from the format alone (`FORMAT.md`) is checked here, once:
lengths, counts, indices, ranks, addresses, the order of numbers, and the sums that a finished trace has of its parts.
What is intact before the damage is given; then comes a ``TraceError`` that says at which byte the trace is damaged.
"""

from __future__ import annotations

import heapq
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from pgasrob import file_input
from pgasrob.runtime.record.records import (
    ADDRESSES,
    BLOCK,
    FRAME,
    LIMITED,
    OPERANDS,
    RESULTS,
    UPDATES,
    WITH_REQUEST,
    Access,
    Call,
    Contents,
    End,
    EndOfRegion,
    Group,
    Kind,
    Memory,
    Module,
    Operation,
    Place,
    Record,
    Region,
    Return,
    TraceError,
    signed,
)
from pgasrob.runtime.record.trace_appendix import Appendix, appendix_of

MAGIC, VERSION = b"PGASTRCE", 2
HEADER_BYTES, CHUNK_HEADER_BYTES = 4096, 32
CHUNK_MAGIC = 0x4B4E4843
ENDED, APPENDIX, SUM, ABOUT = 24, 40, 200, 256
ENDED_FULL, ENDED_STOPPED = 4, 5
MOST_RANKS, MOST_THREADS, MOST_CHUNK, MOST_TYPES = 4096, 1 << 16, 1 << 24, 1000
LARGEST_APPENDIX = 1 << 30
_ACCESS_WORDS = (2, 2, 2, 3, 4, 0, 0, 0)
"""The words of a load or store, by log2 of its size."""
_FIXED: dict[int, int] = {
    Kind.LOAD_RANGE: 3, Kind.STORE_RANGE: 3, Kind.UPDATE: 6, Kind.SITE: 3, Kind.MODULE: 4, Kind.REGION: 7,
    Kind.END_OF_REGION: 2, Kind.END: 2, Kind.MEMORY: 3,
}  # fmt: skip
"""The words of other records; the rest have their length in the first word, as some of these, and at least so many:"""
_LEAST: dict[int, int] = {Kind.RUN: 4, Kind.CALL: 3, Kind.RETURN: 2, Kind.STRING: 1, Kind.GROUP: 2, Kind.CONTENTS: 3}
_PLAIN, _UPDATE = (1, 2), 5
"""The kinds of loads and stores, and of the last of other accesses but those of loops."""
_KINDS = {int(kind): kind for kind in Kind}
_NUMBER = (1 << 48) - 1
_NO_VALUE = 0x40
_VIEW, _REGION_KINDS = 5, range(1, 6)
_MOST_CONTENTS = 1 << 20
BETWEEN_LOOKS = 256
"""Records between two calls of what looks at limits."""


def damaged(byte: int, why: str) -> TraceError:
    return TraceError(f"the trace is damaged at byte {byte}: {why}")


@dataclass
class Log:
    """The records of one thread of a rank. Strings, sites and modules are those read so far. ``starts``: the bytes at
    which its chunks begin; ``byte``: that of the record that was read last; ``lost``: why the log is not whole."""

    trace: Trace
    rank: int
    thread: int
    starts: list[int]
    lost: TraceError | None = None
    byte: int = 0
    ended: bool = False
    strings: dict[int, str] = field(default_factory=lambda: {0: ""})
    sites: dict[int, Place] = field(default_factory=dict)
    modules: dict[int, Module] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Record]:
        number, pending = -1, None
        held: Iterator[Access] | None = None  # stores, behind which there may be what memory holds after them
        values: list[Contents] = []
        for words, at, first, size in self._spans_to_the_end():
            kind = first & 0xFF
            if held is not None and kind != Kind.CONTENTS:
                yield from held
                held = None
            if not kind:
                continue
            if kind == Kind.RUN or kind == Kind.STORE_RANGE:
                values = []
                if kind == Kind.RUN:
                    held = self._run(words[at + 1 : at + size], values)
                else:
                    held = _in_turn([(self._access(words, at, first), 0)], 1, values, True)
                continue
            if kind <= _UPDATE:
                yield self._access(words, at, first)
                continue
            record = self._record(words, at, first, size)
            if record is None:
                continue
            if held is not None and isinstance(record, Contents):
                values.append(record)
                continue
            match record:
                case Call():
                    pending = record
                case Return():
                    if pending is None or pending.operation is not record.operation:
                        raise self.damaged("a return of a call that is not there")
                    pending = None
                case End():
                    self.ended = True
            if isinstance(record, Call | Return | End):
                if not number < record.number < self.trace.clock:
                    raise self.damaged("the numbers of its records are out of order")
                number = record.number
            yield record

    def damaged(self, why: str) -> TraceError:
        return damaged(self.byte, why)

    def decoded(self, words: memoryview) -> Record | None:
        """The record that these words are, which is no access; None for what the log keeps."""
        return self._record(words, 0, words[0], len(words))

    def _spans_to_the_end(self) -> Iterator[tuple[memoryview, int, int, int]]:
        """The spans, and behind them, or before the error that ends them, one that is none."""
        try:
            yield from self.spans()
        except TraceError as error:
            yield memoryview(b""), 0, 0, 0
            raise error
        yield memoryview(b""), 0, 0, 0

    def spans(self) -> Iterator[tuple[memoryview, int, int, int]]:
        """The undecoded records: the words of a chunk, the place of the record in them, its first word, and how many
        words it has."""
        self.ended = False
        for ordinal, start in enumerate(self.starts):
            words = self.trace.chunk(start)
            at, last = 0, len(words)
            while at < last and (first := words[at]):
                self.byte = start + CHUNK_HEADER_BYTES + 8 * at
                if self.ended:
                    raise self.damaged("a record behind the end of the log")
                size = _ACCESS_WORDS[first >> 8 & 7] if first & 0xFF in _PLAIN else self._size(first)
                if not size:
                    raise self.damaged("a record of a wrong length")
                if at + size > last:
                    raise self.damaged("a record that goes beyond its chunk")
                yield words, at, first, size
                at += size
            # Only where a rank was killed something may be there that was not recorded any more.
            whole = ordinal + 1 < len(self.starts) or self.ended
            if whole and words[at:].cast("B") != bytes(8 * (last - at)):
                self.byte = start + CHUNK_HEADER_BYTES + 8 * at
                raise self.damaged("a record without a first word")
        if not self.ended and (lost := self.lost or self.trace.lost):
            raise lost

    def _size(self, first: int) -> int:
        """The words of a record that is no load or store; 0: it cannot have so many."""
        kind, given = first & 0xFF, first >> 16 & 0xFFFF
        if kind in _FIXED:
            size = _FIXED[kind]
            if kind in (Kind.SITE, Kind.MODULE, Kind.REGION, Kind.END_OF_REGION, Kind.MEMORY) and given != size:
                size = 0
        elif kind in _LEAST:
            size = given if given >= _LEAST[kind] else 0
            if kind == Kind.RUN and size != 2 + 2 * (first >> 8 & 0xFF):
                size = 0
        else:
            raise self.damaged(f"a record of kind {kind:#x}, which is not known")
        return size

    def place(self, pc: int) -> Place:
        if not pc >> 31:
            return Place(0, pc)
        if (place := self.sites.get(pc & 0x7FFFFFFF)) is None:
            raise self.damaged("it names a place in the program that is not there")
        return place

    def _string(self, number: int) -> str:
        if (text := self.strings.get(number)) is None:
            raise self.damaged("it names a text that is not there")
        return text

    def note(self, words: memoryview, at: int, first: int, size: int) -> None:
        """Keeps the string, site or module of a record."""
        name = first >> 32
        match first & 0xFF:
            case Kind.STRING:
                text = words[at + 1 : at + size].tobytes().rstrip(b"\0").decode(errors="replace")
                self.strings[name] = text if text.isprintable() else ascii(text)[1:-1]
            case Kind.SITE:
                module, offset = words[at + 1], words[at + 2]
                if module not in self.modules or offset >= ADDRESSES:
                    raise self.damaged("a place in a module that is not there")
                self.sites[name] = Place(module, offset)
            case Kind.MODULE:
                base, length, path = words[at + 1 : at + 4]
                self._within(base, length)
                self.modules[name] = Module(self._string(path), base, length)

    def _within(self, address: int, size: int) -> None:
        if not 0 <= address <= address + size <= ADDRESSES:
            raise self.damaged("an address that no memory has")

    def _rank(self, rank: int, least: int = 0) -> int:
        if not least <= rank < self.trace.ranks:
            raise self.damaged(f"rank {rank}, which is not there")
        return rank

    def _record(self, words: memoryview, at: int, first: int, size: int) -> Record | None:
        kind = first & 0xFF
        match kind:
            case Kind.STRING | Kind.SITE | Kind.MODULE:
                self.note(words, at, first, size)
                return None
        rest = words[at + 1 : at + size]
        match kind:
            case Kind.CALL:
                return self._call(first, rest)
            case Kind.RETURN:
                operation, results = self._operation(first), tuple(rest[1:])
                count = len(results) % 4 if operation is Operation.COMPLETE_REQUESTS else len(results)
                if count != RESULTS.get(operation, 0):
                    raise self.damaged(f"a return with {len(results)} results")
                return Return(operation, results, rest[0] & _NUMBER)
            case Kind.GROUP:
                count = first >> 32
                if len(rest) != 1 + (count + 1) // 2:
                    raise self.damaged("a group of a wrong length")
                members = struct.unpack_from(f"<{count}i", rest, 8)
                if len({self._rank(member) for member in members}) < count:
                    raise self.damaged("a group that has a rank twice")
                return Group(rest[0], members)
            case Kind.REGION:
                region, start, length, identity, rank, remote = rest
                of, kind = signed(rank), first >> 8 & 0xFF
                self._within(start, length)
                self._within(remote, 0)
                if kind not in _REGION_KINDS:
                    raise self.damaged(f"a region of kind {kind}, which is not known")
                self._rank(of, 0 if kind == _VIEW else -1)
                return Region(kind, region, start, length, identity, of, remote, self.place(first >> 32))
            case Kind.END_OF_REGION:
                return EndOfRegion(rest[0])
            case Kind.MEMORY:
                how, start, length = first >> 8 & 0xFF, rest[0], rest[1]
                self._within(start, length)
                if how not in (BLOCK, FRAME):
                    raise self.damaged("memory of a kind that is not known")
                return Memory(how, start, length, self.place(first >> 32))
            case Kind.CONTENTS:
                start, length, data = rest[0], rest[1], rest[2:].tobytes()
                self._within(start, length)
                if length > _MOST_CONTENTS or len(data) >= length + 8:
                    raise self.damaged("contents of a wrong length")
                return Contents(start, length, data[:length])
            case _:
                return End(rest[0])

    def _access(self, words: memoryview, at: int, first: int) -> Access:
        kind, log2, pc = _KINDS[first & 0xFF], first >> 8 & 7, words[at + 1]
        flags, address, size = first >> 8 & 0xF8, first >> 16, 1 << log2
        place = self.place(pc & 0xFFFFFFFF)
        if kind is Kind.LOAD_RANGE or kind is Kind.STORE_RANGE:
            size = words[at + 2]
        if address + size > ADDRESSES or flags & 0x88:
            raise self.damaged("an access that cannot be")
        if kind is Kind.LOAD or kind is Kind.STORE:
            value = None if flags & _NO_VALUE else pc >> 32 if size < 8 else words[at + 2]
            return Access(kind, flags & ~_NO_VALUE, address, size, place, value)
        if kind is not Kind.UPDATE:
            return Access(kind, flags, address, size, place)
        operand, expected, before, after = words[at + 2 : at + 6]
        if log2 > 3 or pc >> 32 >= UPDATES:
            raise self.damaged("an atomic update that is not known")
        return Access(kind, flags, address, size, place, after, (pc >> 32, operand, expected, before, after))

    def _run(self, rest: memoryview, values: list[Contents]) -> Iterator[Access]:
        """``values``: what its stores have left, all in all, once they are asked for."""
        count, entries = rest[0], []
        rounds, stored = len(rest) // 2, []
        for at in range(1, len(rest), 2):
            first, second = rest[at], rest[at + 1]
            kind, flags, address, log2 = first & 0xFF, first >> 8 & 0xF8, first >> 16, first >> 8 & 7
            stride, place = (second >> 32) - (1 << 32 if second >> 63 else 0), self.place(second & 0xFFFFFFFF)
            furthest = address + stride * max(0, (count - 1) // rounds)
            if kind not in (Kind.LOAD, Kind.STORE) or log2 > 4 or not 0 <= furthest <= ADDRESSES - 16:
                raise self.damaged("accesses of a loop that cannot be")
            entries.append((Access(Kind(kind), flags & ~_NO_VALUE, address, 1 << log2, place), stride))
            if kind == Kind.STORE:
                stored.append((min(address, furthest), max(address, furthest) + (1 << log2)))
        alone = all(one is other or one[1] <= other[0] or other[1] <= one[0] for one in stored for other in stored)
        return _in_turn(entries, count, values, alone)

    def _operation(self, first: int) -> Operation:
        try:
            return Operation(first >> 8 & 0xFF)
        except ValueError:
            raise self.damaged(f"a call of an operation {first >> 8 & 0xFF}, which is not known") from None

    def _call(self, first: int, rest: memoryview) -> Call:
        operation, flags, operands = self._operation(first), rest[0] >> 48, tuple(rest[2:])
        function, of = self._string(rest[1] & 0xFFFFFFFF), self._string(rest[1] >> 32)
        names = OPERANDS[operation]
        expected = len(names) - (names[-1:] == ("request",) and not flags & WITH_REQUEST)
        if len(operands) != expected:
            raise self.damaged(f"a call with {len(operands)} operands")
        call = Call(operation, flags, function, of, self.place(first >> 32), operands, rest[0] & _NUMBER)
        named = call.named()
        for name, value in named.items():
            if name in ("rank", "root"):
                self._rank(value, 0 if operation in _OF_ONE_RANK else -1)
            elif name in LIMITED:
                least, most = LIMITED[name]
                if not least <= value < most:
                    raise self.damaged(f"{function or 'a call'} with {value} for {name.replace('_', ' ')}")
        for blocks, block, stride, at in (
            ("blocks", "block", "stride", "remote"), ("local_blocks", "local_block", "local_stride", "local"),
        ):  # fmt: skip
            if blocks in named:
                far = named[at] + max(0, named[blocks] - 1) * named[stride]
                if not 0 <= far <= far + named[block] <= ADDRESSES:
                    raise self.damaged("a transfer of memory that cannot be")
        if named.get("elements", 0) * named.get("element", 0) >= ADDRESSES:
            raise self.damaged("a call about more memory than can be")
        self.trace.note_type(self, of)
        return call


_OF_ONE_RANK = {
    Operation.PUT, Operation.GET, Operation.ATOMIC, Operation.PUT_SIGNAL, Operation.POINTER, Operation.LOCK,
    Operation.UNLOCK, Operation.SEND, Operation.INITIALISE,
}  # fmt: skip
"""The operations whose rank is not any or all."""


class Trace:
    """A trace file open for reading, to be used in a ``with``. ``look`` is called from time to time, to end what takes
    too long. ``lost``: what is not there for all logs that have no end; ``finished``: it has an appendix, or had one.
    Raises ``TraceError`` for a file that is no trace, and ``OSError``."""

    def __init__(self, path: Path, look: Callable[[], None] = lambda: None) -> None:
        self.path, self._look = path, look
        self._file = file_input.opened(path, None)
        try:
            self._bytes = os.fstat(self._file.fileno()).st_size
            self._begin()
        except BaseException:
            self._file.close()
            raise
        self.byte = 0
        self._types: set[str] = set()

    def _begin(self) -> None:
        header = self._header = self._read(0, HEADER_BYTES)
        if len(header) < HEADER_BYTES or header[:8] != MAGIC:
            raise TraceError(f"{self.path} is no trace of `pgasrob record`")
        version, self.chunk_bytes, self.ranks, self.api, self.ended, self.exit_code = struct.unpack_from(
            "<5Ii", header, 8
        )
        if not 1 <= version <= VERSION:
            raise TraceError(f"{self.path} is a trace of version {version}, and this pgasrob reads up to {VERSION}")
        at, length, self.forks, self.clock = struct.unpack_from("<4Q", header, APPENDIX)
        for byte, good, why in (
            (12, 4096 <= self.chunk_bytes <= MOST_CHUNK and not self.chunk_bytes % 4096, "the size of its chunks"),
            (16, 0 < self.ranks <= MOST_RANKS, f"it has {self.ranks} ranks"),
            (20, 0 < self.api <= 3, "the API of the program is not known"),
            (24, self.ended <= ENDED_STOPPED, "how the run has ended is not known"),
            (APPENDIX, not at or (at > HEADER_BYTES and not (at - HEADER_BYTES) % 4096), "the place of its appendix"),
        ):
            if not good:
                raise damaged(byte, why)
        self.finished = bool(at)
        self.appendix: Appendix | None = None
        self.lost: TraceError | None = None
        self._appendix_error: TraceError | None = None
        if at:
            self._read_appendix(at, length)
        self.end = min(at or self._bytes, self._bytes)
        if at > self._bytes:
            self.lost = TraceError(f"the trace is cut off at byte {self._bytes}")
        try:
            self.about: object = json.loads(header[ABOUT:].rstrip(b"\0") or b"{}")
        except ValueError:
            self.about = {}

    def _read_appendix(self, at: int, length: int) -> None:
        """Notes why there is none where it is damaged: there are answers without it."""
        try:
            text = self._read(at, length) if length <= LARGEST_APPENDIX else b""
            (known,) = struct.unpack_from("<I", self._header, SUM)
            if len(text) < length:
                raise ValueError("its end is missing")
            if known and known != crc32(text):
                raise ValueError("it is not what was written")
            self.appendix = appendix_of(text)
        except (ValueError, RecursionError) as error:
            why = f"its list of lines cannot be read ({error})"
            self._appendix_error = damaged(at, why) if at + length <= self._bytes else damaged(self._bytes, why)
        sums = self.appendix.sums if self.appendix else ()
        if sums and sums[0] != header_sum(self._header):
            raise damaged(0, f"its first {HEADER_BYTES} bytes are not what was written")

    def _read(self, start: int, length: int) -> bytes:
        """From the file, which others may shorten meanwhile."""
        if start >= self._bytes or length <= 0:
            return b""
        self._file.seek(start)
        return self._file.read(min(length, self._bytes - start))

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def chunk(self, start: int) -> memoryview:
        """The words of a chunk, behind its header. Raises ``TraceError`` where it is not what was written."""
        content = self._read(start, min(self.chunk_bytes, self.end - start))
        sums, number = self.appendix.sums if self.appendix else (), 1 + (start - HEADER_BYTES) // self.chunk_bytes
        if sums and (number >= len(sums) or sums[number] != crc32(content)):
            raise damaged(start, f"{len(content)} bytes that are not what was written")
        return memoryview(content[CHUNK_HEADER_BYTES : len(content) // 8 * 8]).cast("Q")

    def logs(self) -> list[Log]:
        """The logs, sorted by rank and thread. Where a chunk is lost its log ends with the ``TraceError``."""
        chunks: dict[tuple[int, int], dict[int, int]] = {}
        for start in range(HEADER_BYTES, self.end, self.chunk_bytes):
            head = self._read(start, CHUNK_HEADER_BYTES + 8)
            if len(head) < CHUNK_HEADER_BYTES + 8:
                break
            magic, rank, thread, ordinal = struct.unpack_from("<IIII", head)
            good = magic == CHUNK_MAGIC and rank < self.ranks and thread < MOST_THREADS
            if good and ordinal not in chunks.setdefault((rank, thread), {}):
                chunks[rank, thread][ordinal] = start
            elif good or magic or any(head[CHUNK_HEADER_BYTES:]):  # else it was taken and never begun
                self.lost = self.lost or damaged(start, "the beginning of a chunk")
        logs = []
        for (rank, thread), of in sorted(chunks.items()):
            log = Log(self, rank, thread, [])
            while len(log.starts) in of:
                log.starts.append(of[len(log.starts)])
            if len(log.starts) < len(of):
                after = min(start for ordinal, start in of.items() if ordinal > len(log.starts))
                log.lost = damaged(after, f"a part of what rank {rank} did is missing before it")
            logs.append(log)
        if self.lost is not None:
            there = {log.rank for log in logs}
            logs += [Log(self, rank, 0, []) for rank in range(self.ranks) if rank not in there]
        return logs

    @property
    def is_whole(self) -> bool:
        """Whether the run was recorded to its end, and nothing is lost, as far as that is known."""
        lost = self.lost or self._appendix_error or self.ended in (ENDED_FULL, ENDED_STOPPED) or self.forks
        return not lost and self.appendix is not None

    def damaged(self, why: str) -> TraceError:
        """What is wrong with the record that was given last."""
        return damaged(self.byte, why)

    def note_type(self, log: Log, name: str) -> None:
        """Each type is looked at with every other one."""
        self._types.add(name)
        if len(self._types) > MOST_TYPES:
            raise log.damaged(f"more than {MOST_TYPES} types")

    def in_order(self) -> Iterator[tuple[Log, Record]]:
        """All records ordered by their numbers; those without a number follow the one before them in their log.
        ``byte`` is that of the record that was given last. Raises ``TraceError`` behind what is intact."""

        def numbered(log: Log) -> Iterator[tuple[int, int, int, Log, Record]]:
            number = -1
            for record in log:
                match record:
                    case Call() | Return() | End():
                        number = record.number
                yield number, log.rank, log.byte, log, record

        last = -1
        merged = heapq.merge(*map(numbered, self.logs()), key=lambda one: one[:2])
        for count, (number, _, self.byte, log, record) in enumerate(merged):
            if count % BETWEEN_LOOKS == 0:
                self._look()
            if isinstance(record, Call | Return | End):
                if number <= last:
                    raise damaged(self.byte, "two records have one number")
                last = number
            yield log, record
        if (error := self.lost or self._appendix_error) is not None:
            raise error

    def lines(self) -> Mapping[Place, tuple[str, int, str]]:
        """File, line and function of the places that debug information has."""
        return self.appendix.sites if self.appendix else {}


def _in_turn(
    entries: Sequence[tuple[Access, int]], count: int, values: Sequence[Contents], alone: bool
) -> Iterator[Access]:
    """So many accesses: the entries over and over, each time further by their strides. ``values``: what the stores have
    left; ``alone``: no two of them store to the same memory."""
    rounds = len(entries)
    for k in range(count):
        access, stride = entries[k % rounds]
        moved = access._replace(address=access.address + k // rounds * stride)
        stores = access.kind is Kind.STORE or access.kind is Kind.STORE_RANGE
        if values and alone and stores and (abs(stride) >= access.bytes or k + rounds >= count):
            moved = moved._replace(value=held_in(values, moved.address, moved.bytes))
        yield moved


def held_in(values: Sequence[Contents], address: int, size: int) -> int | None:
    """What a piece of memory holds, as a number; None where it is not among ``values``."""
    for each in values:
        start = address - each.address
        if start >= 0 and start + size <= each.size:
            return int.from_bytes(each.data[start : start + size], "little")
    return None


def header_sum(header: bytes | bytearray) -> int:
    """The sum of a header, but for where the appendix is and what it has."""
    return crc32(header[:APPENDIX] + header[APPENDIX + 16 : SUM] + header[SUM + 4 : HEADER_BYTES])
