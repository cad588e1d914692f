"""Creates the file of a trace before the run, and adds its appendix afterwards. ``FORMAT.md`` defines it."""

from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from pgasrob.runtime.record.records import FRAME, Kind, Operation, TraceError
from pgasrob.runtime.record.trace_appendix import appendix_text
from pgasrob.runtime.record.trace_reader import (
    ABOUT,
    APPENDIX,
    ENDED,
    ENDED_FULL,
    ENDED_STOPPED,
    HEADER_BYTES,
    MAGIC,
    SUM,
    VERSION,
    Trace,
    header_sum,
)

if TYPE_CHECKING:
    from io import RawIOBase
    from pathlib import Path

CHUNK_BYTES = 65536
RANKS, IDENTITIES, FIRST_FRESH_IDENTITY = 16, 192, 2
ENDED_WELL, ENDED_BADLY, ENDED_BY_TIMEOUT = 1, 2, 3
SUFFIX = ".pgastrace"


def create(path: Path, about: dict[str, object], limit: int) -> None:
    """Creates an empty trace that may grow to about ``limit`` bytes. Raises ``OSError``."""
    header = bytearray(HEADER_BYTES)
    header[:8] = MAGIC
    struct.pack_into("<II", header, 8, VERSION, CHUNK_BYTES)
    chunks = max(1, limit // CHUNK_BYTES)
    struct.pack_into("<Q", header, 32, chunks)
    struct.pack_into("<Q", header, IDENTITIES, FIRST_FRESH_IDENTITY)
    text = json.dumps(about, ensure_ascii=False).encode()
    if len(text) > HEADER_BYTES - ABOUT:  # a long command line
        text = json.dumps({**about, "command": []}, ensure_ascii=False).encode()[: HEADER_BYTES - ABOUT]
    header[ABOUT : ABOUT + len(text)] = text
    path.write_bytes(header)  # ranks add to it as they need room


@dataclass
class Contents:
    """A summary of all records. ``ended``: the ranks that ended by themselves. ``places``: module and offset of every
    program counter; ``frames`` and ``allocations``: of those that memory has its name from. ``full`` and ``stopped``:
    recording ended before the program, since the trace was as large as it may be, or for another reason. ``forks``: how
    often ranks forked. ``nameless``: why there are no lines. ``damage``: what is wrong with the trace."""

    ranks: int = 0
    bytes: int = 0
    calls: int = 0
    accesses: int = 0
    full: bool = False
    stopped: bool = False
    forks: int = 0
    nameless: str = ""
    damage: str = ""
    seen: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    threaded: set[int] = field(default_factory=set)
    modules: dict[int, str] = field(default_factory=dict)
    places: set[tuple[int, int]] = field(default_factory=set)
    frames: set[tuple[int, int]] = field(default_factory=set)
    allocations: set[tuple[int, int]] = field(default_factory=set)


def finish(path: Path, ended: int | None = None, exit_code: int = 0) -> Contents | None:
    """Cuts off unused chunks and adds the appendix, unless the file has one. To be called when the program has ended,
    in the way that ``ended`` says (None: unknown). None: it has recorded nothing. Raises ``TraceError`` and
    ``OSError``."""
    with open(path, "r+b", buffering=0) as file:
        header = bytearray(file.read(HEADER_BYTES))
        if not any(header[RANKS : RANKS + 4]):
            return None
        with Trace(path) as trace:
            contents = look(trace)
        if not contents.seen or trace.finished:
            return contents if contents.seen else None
        if ended is not None and not contents.full and not contents.stopped:
            struct.pack_into("<Ii", header, ENDED, ended, exit_code)
            file.seek(ENDED)
            file.write(header[ENDED : ENDED + 8])
        file.truncate(contents.bytes)
        sums = [header_sum(header)]
        for start in range(HEADER_BYTES, contents.bytes, trace.chunk_bytes):
            file.seek(start)
            sums.append(crc32(file.read(trace.chunk_bytes)))
        try:
            _add(file, contents.bytes, appendix_text(contents, sums))
        except OSError as error:  # the records stay, without names and lines
            file.truncate(contents.bytes)
            contents.nameless = error.strerror or str(error)
        os.fsync(file)
    return contents


def _add(file: RawIOBase, at: int, text: bytes) -> None:
    """Add the appendix to the ``file``, of which a part may be written at a time."""
    file.seek(at)
    left = memoryview(text)
    while left:
        left = left[file.write(left) or 0 :]
    for place, written in ((SUM, struct.pack("<I", crc32(text))), (APPENDIX, struct.pack("<QQ", at, len(text)))):
        file.seek(place)
        file.write(written)


def look(trace: Trace) -> Contents:
    """Reads all records of a trace."""
    found = Contents(trace.ranks, HEADER_BYTES, full=trace.ended == ENDED_FULL, stopped=trace.ended == ENDED_STOPPED)
    found.forks = trace.forks
    for log in trace.logs():
        found.bytes = max(found.bytes, *(start + trace.chunk_bytes for start in log.starts))
        found.seen.add(log.rank)
        if log.thread:
            found.threaded.add(log.rank)
        pcs: set[int] = set()
        frames: set[int] = set()
        allocations: set[int] = set()
        try:
            for words, at, first, size in log.spans():
                kind = first & 0xFF
                if kind <= Kind.UPDATE:
                    pcs.add(words[at + 1] & 0xFFFFFFFF)
                    found.accesses += 1
                elif kind == Kind.RUN:
                    found.accesses += words[at + 1]
                    pcs.update(word & 0xFFFFFFFF for word in words[at + 3 : at + size : 2])
                elif kind in (Kind.CALL, Kind.REGION, Kind.MEMORY):
                    pcs.add(first >> 32)
                    found.calls += kind == Kind.CALL
                    if kind != Kind.CALL or first >> 8 & 0xFF == Operation.WINDOW_CREATE:
                        of_frame = kind == Kind.MEMORY and first >> 8 & 0xFF == FRAME
                        (frames if of_frame else allocations).add(first >> 32)
                elif kind == Kind.END:
                    found.ended.add(log.rank)
                else:
                    log.note(words, at, first, size)
        except TraceError as error:
            found.damage = found.damage or str(error)
        for named, into in ((pcs, found.places), (frames, found.frames), (allocations, found.allocations)):
            for pc in named - {0}:
                with suppress(TraceError):
                    into.add(log.place(pc))
        found.modules.update((name, module.path) for name, module in log.modules.items())
    return found
