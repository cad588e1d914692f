"""Creates the file of a trace before the run, and adds its appendix afterwards. ``FORMAT.md`` defines it."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgasrob.runtime.record.records import (
    ABOUT,
    APPENDIX,
    ENDED,
    ENDED_FULL,
    ENDED_STOPPED,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    Kind,
    Trace,
)

if TYPE_CHECKING:
    from io import RawIOBase
    from pathlib import Path

CHUNK_BYTES = 65536
RANKS, IDENTITIES, FIRST_FRESH_IDENTITY = 16, 192, 2
ENDED_WELL, ENDED_BADLY, ENDED_BY_TIMEOUT = 1, 2, 3
LINES_AT_ONCE = 20_000
SUFFIX = ".pgastrace"
DISCRIMINATOR = re.compile(r" \(discriminator \d+\)$")
"""What addr2line puts behind a line that is several blocks of code."""


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
    program counter. ``full`` and ``stopped``: recording ended before the program, since the trace was as large as it
    may be, or for another reason. ``forks``: how often ranks forked. ``nameless``: why there are no lines."""

    ranks: int = 0
    bytes: int = 0
    calls: int = 0
    accesses: int = 0
    full: bool = False
    stopped: bool = False
    forks: int = 0
    nameless: str = ""
    seen: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    threaded: set[int] = field(default_factory=set)
    modules: dict[int, str] = field(default_factory=dict)
    places: set[tuple[int, int]] = field(default_factory=set)


def finish(path: Path, ended: int | None = None, exit_code: int = 0) -> Contents | None:
    """Cuts off unused chunks and adds the appendix, unless the file has one. To be called when the program has ended,
    in the way that ``ended`` says (None: unknown). None: it has recorded nothing. Raises ``TraceError`` and
    ``OSError``."""
    with open(path, "rb") as file:
        if not any(file.read(HEADER_BYTES)[RANKS : RANKS + 4]):
            return None
    with Trace(path) as trace:
        contents = look(trace)
        whole = trace.appendix is not None
    if not contents.seen:
        return None
    text = b"" if whole else json.dumps(_appendix(contents), separators=(",", ":")).encode()
    with open(path, "r+b", buffering=0) as file:
        if ended is not None and not contents.full and not contents.stopped:
            file.seek(ENDED)
            file.write(struct.pack("<Ii", ended, exit_code))
        if not whole:
            file.truncate(contents.bytes)
            try:
                _add(file, contents.bytes, text)
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
    file.seek(APPENDIX)
    file.write(struct.pack("<QQ", at, len(text)))


def look(trace: Trace) -> Contents:
    """Reads all records of a trace."""
    found = Contents(trace.ranks, trace.end, full=trace.ended == ENDED_FULL, stopped=trace.ended == ENDED_STOPPED)
    found.forks = trace.forks
    for log in trace.logs():
        found.seen.add(log.rank)
        if log.thread:
            found.threaded.add(log.rank)
        pcs: set[int] = set()
        for words, at, first in log.spans():
            kind = first & 0xFF
            if kind <= Kind.UPDATE:
                pcs.add(words[at + 1] & 0xFFFFFFFF)
                found.accesses += 1
            elif kind == Kind.RUN:
                found.accesses += words[at + 1]
                pcs.update(word & 0xFFFFFFFF for word in words[at + 3 : at + (first >> 16 & 0xFFFF) : 2])
            elif kind in (Kind.CALL, Kind.REGION):
                pcs.add(first >> 32)
                found.calls += kind == Kind.CALL
            elif kind == Kind.END:
                found.ended.add(log.rank)
            else:
                log.note(words, at, first)
        found.places.update(map(log.place, pcs - {0}))
        found.modules.update((name, module.path) for name, module in log.modules.items())
    return found


def _appendix(contents: Contents) -> dict[str, object]:
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    sites: list[list[int]] = []
    symbols: list[list[object]] = []
    for module, path in sorted(contents.modules.items()):
        offsets = sorted(offset for of, offset in contents.places if of == module)
        for offset, (function, file, line) in zip(offsets, lines(path, offsets), strict=True):
            numbers = [files.setdefault(file, len(files)) if file else -1]
            numbers += [line, functions.setdefault(function, len(functions)) if function else -1]
            sites.append([module, offset, *numbers])
        symbols += [[module, *symbol] for symbol in data_symbols(path)]
    return {"files": list(files), "functions": list(functions), "sites": sites, "symbols": symbols}


def lines(program: str, offsets: list[int]) -> list[tuple[str, str, int]]:
    """Function, file and line of each offset by the debug information of ``program``; "" and 0: unknown.

    Code inlined from the headers of the compiler (``std::copy``) has the place where it is inlined.
    """
    found: dict[int, list[tuple[str, str, int]]] = {}
    for start in range(0, len(offsets), LINES_AT_ONCE):
        asked = "".join(f"{offset:#x}\n" for offset in offsets[start : start + LINES_AT_ONCE])
        command = ["addr2line", "-a", "-i", "-f", "-C", "-e", program]
        try:
            printed = subprocess.run(command, input=asked, capture_output=True, text=True, check=False).stdout
        except OSError:
            printed = ""
        frames: list[tuple[str, str, int]] = []
        lines = iter(printed.splitlines())
        for text in lines:
            if text.startswith("0x"):
                frames = found.setdefault(int(text, 16), [])
                continue
            file, _, line = DISCRIMINATOR.sub("", next(lines, "")).rpartition(":")
            known = (file if file != "??" else "", int(line) if line.isdigit() else 0)
            frames.append(("" if text == "??" else text, *known))

    def innermost(frames: list[tuple[str, str, int]]) -> tuple[str, str, int]:
        own = [frame for frame in frames if frame[1] and not os.path.normpath(frame[1]).startswith("/usr/")]
        return next(iter(own or frames), ("", "", 0))

    return [innermost(found.get(offset, [])) for offset in offsets]


def data_symbols(program: str) -> list[tuple[int, int, str]]:
    """Offset, size and name of the data of ``program``."""
    try:
        listed = subprocess.run(["nm", "-S", "-C", program], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    found = []
    for line in listed.splitlines():
        match line.split(maxsplit=3):
            case [address, size, kind, name] if kind in "bBdDgGsS" and not name.startswith("pgasrob_"):
                found.append((int(address, 16), int(size, 16), name))
    return sorted(found)
