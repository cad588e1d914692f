"""The trace as a file: made before the run, given its appendix after it. ``FORMAT.md`` says what is in it."""

from __future__ import annotations

import json
import mmap
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

MAGIC, VERSION = b"PGASTRCE", 1
HEADER_BYTES, CHUNK_BYTES, CHUNK_HEADER_BYTES = 4096, 65536, 32
CHUNK_MAGIC = 0x4B4E4843
CLOCK, CHUNKS, IDENTITIES, ABOUT = 64, 128, 192, 256
ENDED, APPENDIX = 24, 40
ENDED_WELL, ENDED_BADLY, ENDED_BY_TIMEOUT, ENDED_FULL = 1, 2, 3, 4
FIRST_FRESH_IDENTITY = 2
STORE, UPDATE, RUN, CALL = 2, 5, 6, 0x10
STRING, SITE, MODULE, REGION, END = 0x20, 0x21, 0x22, 0x24, 0x3F
LINES_AT_ONCE = 20_000


class TraceError(Exception):
    """The file is no trace; the message says why."""


def create(path: Path, about: dict[str, object], limit: int) -> None:
    """An empty trace that may grow to about ``limit`` bytes. Raises ``OSError``."""
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
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(HEADER_BYTES + chunks * CHUNK_BYTES)  # without taking room on the disk


@dataclass
class Contents:
    """What a look at all records gives. ``ended``: the ranks that ended by themselves. ``places``: module and offset of
    every pc."""

    ranks: int = 0
    bytes: int = 0
    records: int = 0
    calls: int = 0
    accesses: int = 0
    full: bool = False
    seen: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    threaded: set[int] = field(default_factory=set)
    modules: dict[int, str] = field(default_factory=dict)
    places: set[tuple[int, int]] = field(default_factory=set)


def finish(path: Path, ended: int | None = None, exit_code: int = 0) -> Contents:
    """Cuts off what was not written and adds the appendix, unless it is there. To be called when the program has ended.

    ``ended``: how (None: it is not known). Raises ``TraceError`` and ``OSError``.
    """
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES or header[:8] != MAGIC:
            raise TraceError(f"{path} is no trace of `pgasrob record`")
        if struct.unpack_from("<I", header, 8)[0] != VERSION:
            raise TraceError(f"{path} is of version {struct.unpack_from('<I', header, 8)[0]}, not {VERSION}")
        taken, limit = struct.unpack_from("<Q", header, CHUNKS)[0], struct.unpack_from("<Q", header, 32)[0]
        end = min(HEADER_BYTES + min(taken, limit) * CHUNK_BYTES, size)
        with mmap.mmap(file.fileno(), size) as content:
            contents = look(content, end)
            was, appendix = struct.unpack_from("<I", content, ENDED)[0], struct.unpack_from("<Q", content, APPENDIX)[0]
            if ended is not None:
                struct.pack_into("<Ii", content, ENDED, was if was == ENDED_FULL else ended, exit_code)
            contents.full = was == ENDED_FULL
            content.flush()
        if appendix:
            return contents
        file.truncate(end)
        text = json.dumps(_appendix(contents), separators=(",", ":")).encode()
        file.seek(end)
        file.write(text)
        file.flush()
        file.seek(APPENDIX)
        file.write(struct.pack("<QQ", end, len(text)))
    return contents


def look(content: mmap.mmap | bytes, end: int) -> Contents:
    """Reads all records of a trace up to ``end``."""
    found = Contents(struct.unpack_from("<I", content, 16)[0], end)
    logs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for at in range(HEADER_BYTES, end, CHUNK_BYTES):
        magic, rank, thread, ordinal = struct.unpack_from("<IIII", content, at)
        if magic == CHUNK_MAGIC:
            logs.setdefault((rank, thread), []).append((ordinal, at))
    for (rank, thread), chunks in logs.items():
        found.seen.add(rank)
        if thread:
            found.threaded.add(rank)
        strings: dict[int, str] = {}
        pcs: set[int] = set()
        sites: dict[int, tuple[int, int]] = {}
        for _, at in sorted(chunks):
            piece = memoryview(content)[at + CHUNK_HEADER_BYTES : min(at + CHUNK_BYTES, end)]
            piece = piece[: len(piece) // 8 * 8]
            words = piece.cast("Q")
            _read(words, rank, found, strings, sites, pcs)
            words.release()
            piece.release()
        for pc in pcs:
            if pc >> 31:
                if pc & 0x7FFFFFFF in sites:
                    found.places.add(sites[pc & 0x7FFFFFFF])
            elif pc:
                found.places.add((0, pc))
    return found


def _read(
    words: memoryview,
    rank: int,
    found: Contents,
    strings: dict[int, str],
    sites: dict[int, tuple[int, int]],
    pcs: set[int],
) -> None:
    at, last, records, accesses = 0, len(words), 0, 0
    sizes = {size: 3 if size == 3 else 4 if size == 4 else 2 for size in range(5)}
    while at < last and (first := words[at]):
        kind = first & 0xFF
        records += 1
        if kind <= STORE:
            pcs.add(words[at + 1] & 0xFFFFFFFF)
            accesses += 1
            at += sizes[first >> 8 & 7]
            continue
        if kind <= UPDATE:
            pcs.add(words[at + 1] & 0xFFFFFFFF)
            accesses += 1
            at += 6 if kind == UPDATE else 3
            continue
        if kind == END:
            found.ended.add(rank)
            at += 2
            continue
        length = first >> 16 & 0xFFFF
        if kind in (CALL, REGION):
            pcs.add(first >> 32)
            found.calls += kind == CALL
        elif kind == RUN:
            accesses += words[at + 1]
            pcs.update(word & 0xFFFFFFFF for word in words[at + 3 : at + length : 2])
        elif kind == STRING:
            strings[first >> 32] = words[at + 1 : at + length].tobytes().rstrip(b"\0").decode(errors="replace")
        elif kind == SITE:
            sites[first >> 32] = (words[at + 1], words[at + 2])
        elif kind == MODULE:
            found.modules[first >> 32] = strings.get(words[at + 3], "")
        at += length
    found.records += records
    found.accesses += accesses


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
    """Function, file and line of each offset by the debug information of ``program``; "" and 0: not known."""
    found: list[tuple[str, str, int]] = []
    for start in range(0, len(offsets), LINES_AT_ONCE):
        asked = "".join(f"{offset:#x}\n" for offset in offsets[start : start + LINES_AT_ONCE])
        try:
            told = subprocess.run(
                ["addr2line", "-f", "-C", "-e", program], input=asked, capture_output=True, text=True, check=False
            ).stdout.splitlines()
        except OSError:
            told = []
        for function, place in zip(told[::2], told[1::2], strict=False):
            file, _, line = place.partition(" ")[0].rpartition(":")
            found.append(
                ("" if function == "??" else function, "" if file == "??" else file, int(line) if line.isdigit() else 0)
            )
    return found + [("", "", 0)] * (len(offsets) - len(found))


def data_symbols(program: str) -> list[tuple[int, int, str]]:
    """Offset, size and name of the data of ``program``."""
    try:
        told = subprocess.run(["nm", "-S", "-C", program], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    found = []
    for line in told.splitlines():
        match line.split(maxsplit=3):
            case [address, size, kind, name] if kind in "bBdDgGsS" and not name.startswith("pgasrob_"):
                found.append((int(address, 16), int(size, 16), name))
    return sorted(found)
