"""Damages traces at random, so that they go wrong in every place that a reader looks at. The same numbers give the same
bytes."""

from __future__ import annotations

import json
import lzma
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from zlib import crc32

from pgasrob.runtime.record.records import Kind
from pgasrob.runtime.record.trace_reader import (
    ABOUT,
    APPENDIX,
    CHUNK_HEADER_BYTES,
    CHUNK_MAGIC,
    HEADER_BYTES,
    SUM,
    Trace,
    header_sum,
)
from tests.fuzz.damage import damaged_json

SAMPLES = Path(__file__).parents[1] / "fuzz" / "samples"
CHUNK = 4096
EXTREME = (
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    255,
    4095,
    1 << 16,
    1 << 31,
    (1 << 31) - 1,
    1 << 47,
    (1 << 48) - 1,
    1 << 63,
    -1,
    -2,
)


def samples() -> list[bytes]:
    """Recordings of small programs."""
    return [lzma.decompress(file.read_bytes()) for file in sorted(SAMPLES.glob("*.pgastrace.xz"))]


def appendix(content: bytes | bytearray) -> tuple[int, int]:
    """Where it is, and its length."""
    at, length = struct.unpack_from("<QQ", content, APPENDIX)
    return at, length


def sealed(content: bytes | bytearray) -> bytes:
    """The trace with the sums that its parts have: those who change a trace on purpose can do so, too."""
    changed, (at, length) = bytearray(content), appendix(content)
    (chunk,) = struct.unpack_from("<I", changed, 12)
    try:
        listed = json.loads(changed[at : at + length])
        if 4096 <= chunk <= 1 << 20:
            sums = [crc32(changed[start : min(start + chunk, at)]) for start in range(HEADER_BYTES, at, chunk)]
            listed["sums"] = [header_sum(changed[:HEADER_BYTES]), *sums]
        text = json.dumps(listed, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError):
        text = bytes(changed[at : at + length])
    changed[at:] = text
    struct.pack_into("<QQ", changed, APPENDIX, at, len(text))
    struct.pack_into("<I", changed, SUM, crc32(text))
    return bytes(changed)


def records(path: Path) -> dict[tuple[int, int], list[bytes]]:
    """The records of each rank and thread."""
    with Trace(path) as trace:
        return {
            (log.rank, log.thread): [words[at : at + size].tobytes() for words, at, _, size in log.spans()]
            for log in trace.logs()
        }


def packed(content: bytes, logs: dict[tuple[int, int], Sequence[bytes]], chunk: int = CHUNK) -> bytes:
    """A trace like ``content``, with these records in chunks of this size."""
    (at, length), made, number = appendix(content), bytearray(content[:HEADER_BYTES]), 0
    struct.pack_into("<I", made, 12, chunk)
    for (rank, thread), written in logs.items():
        ordinal, room = 0, 0
        for record in written:
            if room < len(record):
                made += bytes(room)
                made += struct.pack("<IIII16x", CHUNK_MAGIC, rank, thread, ordinal)
                ordinal, room, number = ordinal + 1, chunk - CHUNK_HEADER_BYTES, number + 1
            made += record
            room -= len(record)
        made += bytes(room)
    struct.pack_into("<QQ", made, APPENDIX, len(made), length)
    struct.pack_into("<Q", made, 128, number)
    return sealed(made + content[at : at + length])


def damaged(random: Random, sample: bytes) -> bytes:
    """The trace after one to three changes, mostly with sums as if nothing had happened."""
    changed = bytearray(sample)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_CHANGES)(random, changed)
        if len(changed) < HEADER_BYTES:
            break
    return sealed(changed) if random.random() < 0.7 and len(changed) >= HEADER_BYTES else bytes(changed)


def _bits(random: Random, trace: bytearray) -> None:
    full = [place for place, byte in enumerate(trace) if byte]
    for _ in range(random.choice((1, 1, 2, 8))):
        trace[random.choice(full)] ^= 1 << random.randrange(8)


def _cut(random: Random, trace: bytearray) -> None:
    at, _ = appendix(trace)
    del trace[
        random.choice((random.randrange(len(trace)), random.randrange(HEADER_BYTES, max(at, HEADER_BYTES + 1)))) :
    ]


def _header(random: Random, trace: bytearray) -> None:
    form, places = random.choice((("<I", range(8, 32, 4)), ("<Q", range(32, ABOUT, 8)), ("<I", range(8, 64, 4))))
    _set(random, trace, form, random.choice(places))


def _set(random: Random, trace: bytearray, form: str, place: int) -> None:
    bits = 8 * struct.calcsize(form)
    (word,) = struct.unpack_from(form, trace, place)
    other = random.choice((*EXTREME, word + 1, word - 1, word ^ 1 << random.randrange(bits), word << 8, word >> 8))
    struct.pack_into(form, trace, place, other % (1 << bits))


def _words(random: Random, trace: bytearray) -> None:
    """Words of records, in whole or in half, and of the beginnings of chunks."""
    at, _ = appendix(trace)
    full = [place for place in range(HEADER_BYTES, min(at, len(trace) - 8), 8) if any(trace[place : place + 8])]
    for _ in range(random.choice((1, 1, 2, 4))):
        form, further = random.choice((("<Q", 0), ("<I", 0), ("<I", 4), ("<H", 2), ("<B", 0), ("<B", 1)))
        if full:
            _set(random, trace, form, random.choice(full) + further)


def _chunks(random: Random, trace: bytearray) -> None:
    """Two chunks change places, one is there twice, or not at all."""
    at, _ = appendix(trace)
    (chunk,) = struct.unpack_from("<I", trace, 12)
    starts = range(HEADER_BYTES, min(at, len(trace)), max(chunk, 512))
    if not starts:
        return
    one, other = random.choice(starts), random.choice(starts)
    first, second = bytes(trace[one : one + chunk]), bytes(trace[other : other + chunk])
    match random.choice(("swap", "double", "zero", "number")):
        case "swap" if len(first) == len(second):
            trace[one : one + chunk], trace[other : other + chunk] = second, first
        case "double" if len(first) == len(second):
            trace[one : one + chunk] = second
        case "zero":
            trace[one : one + chunk] = bytes(len(first))
        case _:
            _set(random, trace, "<I", one + random.choice((0, 4, 8, 12)))


def _order(random: Random, trace: bytearray) -> None:
    """Records of a log are left out, are there twice, come later, or are cut."""
    at, _ = appendix(trace)
    (chunk,) = struct.unpack_from("<I", trace, 12)
    starts = range(HEADER_BYTES, min(at, len(trace) - chunk + 1), max(chunk, 512))
    if not starts:
        return
    start = random.choice(starts) + CHUNK_HEADER_BYTES
    places, place = [], start
    while place + 8 <= start - CHUNK_HEADER_BYTES + chunk and place + 8 <= len(trace):
        (first,) = struct.unpack_from("<Q", trace, place)
        if not first:
            break
        kind = first & 0xFF
        words = {1: (2, 2, 2, 3, 4, 2, 2, 2)[first >> 8 & 7], 3: 3, 4: 3, 5: 6, Kind.END: 2}
        size = words[1] if kind in (1, 2) else words.get(kind) or max(1, first >> 16 & 0xFFFF)
        places.append((place, place + 8 * size))
        place += 8 * size
    if len(places) < 2:
        return
    (begin, end), (other, beyond) = random.choice(places), random.choice(places)
    record, before = bytes(trace[begin:end]), len(trace)
    match random.choice(("out", "twice", "later", "cut", "first")):
        case "out":
            del trace[begin:end]
            trace[place - len(record) : place - len(record)] = bytes(len(record))
        case "twice":
            trace[other:other] = record
            del trace[place : place + len(record)]
        case "later" if other > begin:
            trace[beyond:beyond] = record
            del trace[begin:end]
        case "cut":
            del trace[end - 8 : end]
            trace[place - 8 : place - 8] = bytes(8)
        case _:
            trace[begin : begin + 8] = bytes(8)
    trace += bytes(max(0, before - len(trace)))


def _appendix(random: Random, trace: bytearray) -> None:
    at, length = appendix(trace)
    try:
        listed = json.loads(trace[at : at + length])
    except (ValueError, RecursionError):
        return
    if isinstance(listed, dict) and random.random() < 0.5:  # other files of the machine, and a folder that has all
        listed["files"] = [random.choice(("/etc/passwd", "/dev/zero", "../x", "/proc/self/mem", "/", 7))] * 3
        listed["root"] = random.choice(("/", "/etc", "", "relative", None))
    text = damaged_json(random, listed, [])
    trace[at:] = text
    struct.pack_into("<QQ", trace, APPENDIX, at, len(text))


def _about(random: Random, trace: bytearray) -> None:
    text = random.choice(
        (b"[]", b"{}", b"{", b"7", b'{"command": [7]}', b'{"command": {}}', b'{"command": ["\\u001b[31m"]}')
    )
    trace[ABOUT:HEADER_BYTES] = text.ljust(HEADER_BYTES - ABOUT, b"\0")


_CHANGES: tuple[Callable[[Random, bytearray], None], ...] = (
    _bits, _bits, _cut, _header, _header, _words, _words, _words, _words, _chunks, _order, _order, _appendix, _about,
)  # fmt: skip
