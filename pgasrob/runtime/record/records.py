"""Reads the records of a trace file, one after the other. ``FORMAT.md`` defines them."""

from __future__ import annotations

import contextlib
import heapq
import json
import mmap
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC, VERSION = b"PGASTRCE", 1
HEADER_BYTES, CHUNK_HEADER_BYTES = 4096, 32
CHUNK_MAGIC = 0x4B4E4843
ENDED, APPENDIX, CHUNKS, ABOUT = 24, 40, 128, 256
ENDED_FULL, ENDED_STOPPED = 4, 5


class Kind(IntEnum):
    """The kinds of records, as in their first byte."""

    LOAD = 0x01
    STORE = 0x02
    LOAD_RANGE = 0x03
    STORE_RANGE = 0x04
    UPDATE = 0x05
    RUN = 0x06
    CALL = 0x10
    RETURN = 0x11
    STRING = 0x20
    SITE = 0x21
    MODULE = 0x22
    GROUP = 0x23
    REGION = 0x24
    END_OF_REGION = 0x25
    END = 0x3F


class Operation(IntEnum):
    """The operations of calls."""

    PUT = 1
    GET = 2
    ATOMIC = 3
    PUT_SIGNAL = 4
    WAIT_UNTIL = 5
    TEST = 6
    FENCE = 7
    QUIET = 8
    COLLECTIVE = 9
    SET_LOCK = 10
    TEST_LOCK = 11
    CLEAR_LOCK = 12
    ALLOCATE = 13
    FREE = 14
    INITIALISE = 15
    FINALISE = 16
    EXIT = 17
    CONTEXT_CREATE = 18
    CONTEXT_DESTROY = 19
    POINTER = 20
    WINDOW_CREATE = 24
    WINDOW_FREE = 25
    WINDOW_FENCE = 26
    POST = 27
    START = 28
    COMPLETE = 29
    WAIT = 30
    TEST_EXPOSURE = 31
    LOCK = 32
    UNLOCK = 33
    LOCK_ALL = 34
    UNLOCK_ALL = 35
    FLUSH = 36
    WINDOW_SYNC = 37
    ATTACH = 38
    DETACH = 39
    SEND = 40
    RECEIVE = 41
    COMPLETE_REQUESTS = 42
    REQUEST_FREE = 43
    PROBE = 44
    COMMUNICATOR = 45
    NOT_KNOWN = 255


_SIDES = "rank remote blocks block stride local local_blocks local_block local_stride element value queue"
OPERANDS: dict[Operation, tuple[str, ...]] = {
    Operation[operation]: tuple(names.split())
    for operations, names in (
        ("PUT GET", f"{_SIDES} request"),
        ("PUT_SIGNAL", f"{_SIDES} signal signal_value update"),
        ("ATOMIC", "rank remote element elements update operand expected local expected_at result queue request"),
        ("WAIT_UNTIL TEST", "address element elements comparison value mode status"),
        ("FENCE QUIET CONTEXT_DESTROY", "queue"),
        ("COLLECTIVE", "group which kind root destination source element elements update request"),
        ("SET_LOCK TEST_LOCK CLEAR_LOCK FREE", "address"),
        ("ALLOCATE", "bytes alignment"),
        ("INITIALISE", "rank ranks level"),
        ("FINALISE NOT_KNOWN", ""),
        ("EXIT", "status"),
        ("CONTEXT_CREATE", "options"),
        ("POINTER", "rank remote"),
        ("WINDOW_CREATE", "group flavour bytes unit unified"),
        ("WINDOW_FREE COMPLETE WAIT TEST_EXPOSURE UNLOCK_ALL WINDOW_SYNC", "window"),
        ("WINDOW_FENCE LOCK_ALL", "window assertion"),
        ("POST START", "window assertion group"),
        ("LOCK", "window rank exclusive_or_shared assertion"),
        ("UNLOCK FLUSH", "window rank"),
        ("ATTACH", "window address bytes"),
        ("DETACH", "window address"),
        ("SEND", "group rank tag address bytes mode request"),
        ("RECEIVE", "group rank tag address bytes request"),
        ("COMPLETE_REQUESTS", "asked waits"),
        ("REQUEST_FREE", "request"),
        ("PROBE", "group rank tag waits"),
        ("COMMUNICATOR", "parent"),
    )
    for operation in operations.split()
}
"""The names of the operands of each call; an operand `request` is present only with the flag for it."""


def signed(word: int) -> int:
    """A word as C's int64_t."""
    return word - (1 << 64) if word >> 63 else word


class Place(NamedTuple):
    """A program counter as an offset in a module; (0, 0): unknown."""

    module: int
    offset: int


class Module(NamedTuple):
    """The program (the first) or a shared library that was built to record. ``base``: its load address."""

    path: str
    base: int
    bytes: int


class Access(NamedTuple):
    """A load, a store or an atomic update. ``value``: None where it is unknown, as in runs and ranges. ``update``:
    operation, operand, expected, value before and value after."""

    kind: Kind
    flags: int
    address: int
    bytes: int
    place: Place
    value: int | None = None
    update: tuple[int, int, int, int, int] | None = None


class Call(NamedTuple):
    operation: Operation
    flags: int
    function: str
    type: str
    place: Place
    operands: tuple[int, ...]
    number: int

    def named(self) -> dict[str, int]:
        """The operands by name, with the sign that C's int64_t would give them."""
        return dict(zip(OPERANDS[self.operation], map(signed, self.operands), strict=False))


class Return(NamedTuple):
    operation: Operation
    results: tuple[int, ...]
    number: int


class Region(NamedTuple):
    """A piece of memory that other ranks can access; ``rank``: for a view the rank whose memory it shows, else -1."""

    kind: int
    region: int
    address: int
    bytes: int
    identity: int
    rank: int
    remote: int
    place: Place


class EndOfRegion(NamedTuple):
    region: int


class Group(NamedTuple):
    group: int
    members: tuple[int, ...]


class End(NamedTuple):
    """The rank ended by itself."""

    number: int


Record = Access | Call | Return | Region | EndOfRegion | Group | End


ACCESS_WORDS = (2, 2, 2, 3, 4, 2, 2, 2)
"""The words of a load or store, by log2 of its size."""
WORDS: dict[int, int] = {Kind.LOAD_RANGE: 3, Kind.STORE_RANGE: 3, Kind.UPDATE: 6, Kind.END: 2}
"""The words of the other kinds of records with a fixed length; the rest have it in their first word."""
NUMBER = (1 << 48) - 1
NO_VALUE = 0x40


class TraceError(Exception):
    """The file is no trace; the message says why."""


@dataclass
class Log:
    """The records of one thread of a rank. Strings, sites and modules are those read so far. ``starts``: the place of
    the first record of each chunk in the file; ``byte``: that of the record that was read last."""

    rank: int
    thread: int
    chunks: list[memoryview]
    starts: list[int]
    byte: int = 0
    strings: dict[int, str] = field(default_factory=lambda: {0: ""})
    sites: dict[int, Place] = field(default_factory=dict)
    modules: dict[int, Module] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Record]:
        for words, at, first in self.spans():
            kind = first & 0xFF
            try:
                if kind == Kind.RUN:
                    yield from self._run(words[at + 1 : at + (first >> 16 & 0xFFFF)])
                    continue
                record = self._record(words, at, first)
            except (IndexError, ValueError, struct.error) as error:
                raise TraceError(f"the trace is damaged at byte {self.byte}: {error}") from error
            if record is not None:
                yield record

    def spans(self) -> Iterator[tuple[memoryview, int, int]]:
        """The undecoded records: the words of a chunk, the place of the record in them, and its first word."""
        for start, words in zip(self.starts, self.chunks, strict=True):
            at, last = 0, len(words)
            while at < last and (first := words[at]):
                kind = first & 0xFF
                self.byte = start + 8 * at
                yield words, at, first
                size = ACCESS_WORDS[first >> 8 & 7] if kind <= Kind.STORE else WORDS.get(kind) or first >> 16 & 0xFFFF
                if not size or at + size > last:
                    raise TraceError(f"the trace is damaged at byte {self.byte}: a record of {size} words")
                at += size

    def place(self, pc: int) -> Place:
        return self.sites.get(pc & 0x7FFFFFFF, Place(0, 0)) if pc >> 31 else Place(0, pc)

    def note(self, words: memoryview, at: int, first: int) -> None:
        """Keeps the string, site or module of a record."""
        name, length = first >> 32, first >> 16 & 0xFFFF
        match first & 0xFF:
            case Kind.STRING:
                text = words[at + 1 : at + length].tobytes()
                self.strings[name] = text.rstrip(b"\0").decode(errors="replace")
            case Kind.SITE:
                self.sites[name] = Place(words[at + 1], words[at + 2])
            case Kind.MODULE:
                self.modules[name] = Module(self.strings.get(words[at + 3], ""), words[at + 1], words[at + 2])

    def _record(self, words: memoryview, at: int, first: int) -> Record | None:
        kind = first & 0xFF
        flags, address, size = first >> 8 & 0xF8, first >> 16, 1 << (first >> 8 & 7)
        rest = words[at + 1 : at + (WORDS.get(kind) or first >> 16 & 0xFFFF)]
        match kind:
            case Kind.LOAD | Kind.STORE:
                pc = words[at + 1]
                value = None if flags & NO_VALUE else pc >> 32 if size < 8 else words[at + 2]
                return Access(Kind(kind), flags & ~NO_VALUE, address, size, self.place(pc & 0xFFFFFFFF), value)
            case Kind.LOAD_RANGE | Kind.STORE_RANGE:
                return Access(Kind(kind), flags, address, rest[1], self.place(rest[0] & 0xFFFFFFFF))
            case Kind.UPDATE:
                operand, expected, before, after = rest[1:]
                update = (rest[0] >> 32, operand, expected, before, after)
                return Access(Kind.UPDATE, flags, address, size, self.place(rest[0] & 0xFFFFFFFF), after, update)
            case Kind.CALL:
                function, of = self.strings.get(rest[1] & 0xFFFFFFFF, ""), self.strings.get(rest[1] >> 32, "")
                operation, number = Operation(first >> 8 & 0xFF), rest[0] & NUMBER
                return Call(operation, rest[0] >> 48, function, of, self.place(first >> 32), tuple(rest[2:]), number)
            case Kind.RETURN:
                return Return(Operation(first >> 8 & 0xFF), tuple(rest[1:]), rest[0] & NUMBER)
            case Kind.GROUP:
                members = rest[1:].tobytes()[: 4 * (first >> 32)]
                return Group(rest[0], struct.unpack(f"<{first >> 32}i", members))
            case Kind.REGION:
                region, start, length, identity, rank, remote = rest
                place = self.place(first >> 32)
                return Region(first >> 8 & 0xFF, region, start, length, identity, signed(rank), remote, place)
            case Kind.END_OF_REGION:
                return EndOfRegion(rest[0])
            case Kind.END:
                return End(rest[0])
            case Kind.STRING | Kind.SITE | Kind.MODULE:
                self.note(words, at, first)
                return None
        raise TraceError(f"the trace is damaged at byte {self.byte}: a record of kind {kind:#x}, which is not known")

    def _run(self, rest: memoryview) -> Iterator[Access]:
        entries = []
        for at in range(1, len(rest), 2):
            first, second = rest[at], rest[at + 1]
            stride = (second >> 32) - (1 << 32 if second >> 63 else 0)
            place = self.place(second & 0xFFFFFFFF)
            entries.append((Kind(first & 0xFF), first >> 8 & 0xF8, first >> 16, 1 << (first >> 8 & 7), place, stride))
        for k in range(rest[0]):
            kind, flags, address, size, place, stride = entries[k % len(entries)]
            yield Access(kind, flags, address + k // len(entries) * stride, size, place)


class Trace:
    """A trace file open for reading, to be used in a ``with``. Raises ``TraceError`` for a file that is no trace, and
    ``OSError``."""

    def __init__(self, path: Path) -> None:
        with open(path, "rb") as file:
            header = file.read(HEADER_BYTES)
            if len(header) < HEADER_BYTES or header[:8] != MAGIC:
                raise TraceError(f"{path} is no trace of `pgasrob record`")
            version, self.chunk_bytes, self.ranks, self.api, self.ended, self.exit_code = struct.unpack_from(
                "<5Ii", header, 8
            )
            if version != VERSION:
                raise TraceError(f"{path} is a trace of version {version}, and this pgasrob reads version {VERSION}")
            self.content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        limit, appendix, length, self.forks = struct.unpack_from("<4Q", header, 32)
        taken = struct.unpack_from("<Q", header, CHUNKS)[0]
        self.end = min(HEADER_BYTES + min(taken, limit) * self.chunk_bytes, appendix or len(self.content))
        if appendix + length > len(self.content) or self.end > len(self.content):
            raise TraceError(f"{path} is cut off: its end is missing")
        if self.chunk_bytes <= CHUNK_HEADER_BYTES or not self.ranks:
            raise TraceError(f"{path} is damaged: it has no ranks, or no room for records")
        try:
            self.about = json.loads(header[ABOUT:].rstrip(b"\0") or b"{}")
            self.appendix = json.loads(self.content[appendix : appendix + length]) if appendix else None
        except ValueError as error:
            raise TraceError(f"{path} is damaged: what it says about the program cannot be read ({error})") from error

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BufferError):  # views of it still exist: it is closed with the last of them
            self.content.close()

    def logs(self) -> list[Log]:
        """The logs, sorted by rank and thread."""
        chunks: dict[tuple[int, int], list[tuple[int, int, memoryview]]] = {}
        whole = memoryview(self.content)
        for at in range(HEADER_BYTES, self.end - CHUNK_HEADER_BYTES + 1, self.chunk_bytes):
            magic, rank, thread, ordinal = struct.unpack_from("<IIII", self.content, at)
            if magic == CHUNK_MAGIC:
                piece = whole[at + CHUNK_HEADER_BYTES : min(at + self.chunk_bytes, self.end)]
                words = piece[: len(piece) // 8 * 8].cast("Q")
                chunks.setdefault((rank, thread), []).append((ordinal, at + CHUNK_HEADER_BYTES, words))
        logs = []
        for key, of in sorted(chunks.items()):
            of.sort(key=itemgetter(0))
            logs.append(Log(*key, [words for _, _, words in of], [start for _, start, _ in of]))
        return logs

    def in_order(self) -> Iterator[tuple[Log, Record]]:
        """All records ordered by their numbers; those without a number follow the one before them in their log."""

        def numbered(log: Log) -> Iterator[tuple[int, int, Log, Record]]:
            number = -1
            for record in log:
                match record:
                    case Call() | Return() | End():
                        number = record.number
                yield number, log.rank, log, record

        for _, _, log, record in heapq.merge(*map(numbered, self.logs()), key=lambda one: one[:2]):
            yield log, record

    def lines(self) -> dict[Place, tuple[str, int, str]]:
        """File, line and function of the places that debug information has."""
        if self.appendix is None:
            return {}
        files, functions = [*self.appendix["files"], ""], [*self.appendix["functions"], ""]
        return {
            Place(module, offset): (files[file], line, functions[function])
            for module, offset, file, line, function in self.appendix["sites"]
        }
