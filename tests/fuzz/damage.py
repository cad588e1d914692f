"""Damages inputs at random: bytes, words, structure. The same numbers give the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

Json = Any
WORDS = re.compile(rb"\w+|\s+|[^\w\s]")
NUMBERS = (
    b"0", b"1", b"-1", b"2", b"3", b"7", b"64", b"255", b"256", b"65536", b"2147483647", b"2147483648", b"-2147483648",
    b"4294967296", b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616", b"1e308", b"1e999", b"0.5",
    b"0x7fffffffffffffff", b"9" * 30, b"9" * 5_000,
)  # fmt: skip
NOISE = (
    b"\0", b"\0" * 40, b"\xff", b"\x80\x80", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[31m", b"\r",
    b"\xe2\x80\xae", b"\xf0\x9d\x92\x99", b"\\", b'"', b"'", b"`", b"@", b"/*", b"//", b"#", b"%s%n", b"\x7f", b"\x01",
)  # fmt: skip
PAIRS = ((b"(", b")"), (b"{", b"}"), (b"[", b"]"), (b"-", b""), (b"!", b""), (b"/* ", b""), (b"if (1) ", b""))
DEPTHS = (3, 20, 150, 1_000, 20_000)
NESTED = "nested here"
JUNK: tuple[Json, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 99, 10**6, 2**31, 2**63, 2**64, 2**70, -(2**63), 10**400, 0.5, 1e308,
    float("nan"), float("inf"), "", "a", "0", "a\nb\x1b[31m", "\ud800", "\0", "x" * 10_000, "é中→",
    "</script>%_#&{}\\$^~", [], [[]], {}, [1], ["a"], {"a": 1}, {"set": []}, {"map": [[1, 2]]}, NESTED,
)  # fmt: skip


def damaged(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """``sample`` after one to four changes; pieces of ``others`` and the ``words`` of its language may come in."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        change = random.choice((_of_words, _of_words, _of_words, _of_words, _of_words, _of_words, _of_bytes, _of_any))
        sample = change(random, sample, others, words)
    return sample


def damaged_bytes(random: Random, sample: bytes, others: Sequence[bytes]) -> bytes:
    """The same for what is no text."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        sample = random.choice((_of_bytes, _of_bytes, _of_bytes, _spliced))(random, sample, others, ())
    return sample


def _of_any(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    return random.choice((_nested, _spliced))(random, sample, others, words)


def _of_bytes(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    changed = bytearray(sample)
    start, end = _slice(random, len(changed))
    match random.choice((*["flip"] * 12, "cut", "delete", "double", "noise", "zero", "recode", "empty")):
        case "flip":
            full = [place for place, byte in enumerate(changed) if byte]  # traces are zeros for the most part
            for _ in range(random.choice((1, 1, 2, 8))):
                place = random.choice(full) if full else 0
                changed[place : place + 1] = bytes([random.choice((random.randrange(256), 0, 1, 255, 128))])
        case "cut":
            del changed[start:]
        case "delete":
            del changed[start:end]
        case "double":
            changed[start:start] = changed[start:end]
        case "noise":
            changed[start:start] = random.choice(NOISE)
        case "zero":
            changed[start:end] = bytes(end - start)
        case "recode":
            encoding = random.choice(("utf-8-sig", "utf-16", "utf-32", "utf-16-be", "latin-1"))
            changed = bytearray(sample.decode(errors="replace").encode(encoding, errors="replace"))
        case "empty" if random.random() < 0.1:
            changed.clear()
    return bytes(changed)


def _slice(random: Random, length: int) -> tuple[int, int]:
    start = random.randrange(length + 1)
    return start, min(length, start + random.choice((1, 1, 2, 4, 16, 200)))


def _of_words(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    found = WORDS.findall(sample)
    places = [place for place, word in enumerate(found) if not word.isspace()]
    if not places:
        return sample + random.choice(NOISE)
    one, two = random.choice(places), random.choice(places)
    changes = ("delete", "swap", "double", "put", "noise", "cut", *["copy"] * 2, *["number"] * 6, *["move"] * 4)
    match random.choice(changes):
        case "delete":
            del found[one : one + random.choice((1, 1, 1, 3, 10))]
        case "swap":
            found[one], found[two] = found[two], found[one]
        case "double":
            found[one:one] = found[one : one + random.choice((1, 3, 12))] * random.choice((1, 1, 1, 2_000))
        case "put":
            found.insert(one, b" " + random.choice(words or NUMBERS) + b" ")
        case "copy":
            found[one] = found[two]
        case "number":
            numbers = [place for place in places if found[place].isdigit()] or [one]
            found[random.choice(numbers)] = random.choice(NUMBERS if random.random() < 0.3 else NUMBERS[:6])
        case "move":
            lines = sample.splitlines(keepends=True)
            lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))
            found = lines
        case "noise":
            found.insert(one, random.choice(NOISE))
        case "cut" if random.random() < 0.3:
            del found[one:]
    return b"".join(found)


def _nested(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Opened many times, and closed as often or not."""
    found = WORDS.findall(sample)
    depth, (opening, closing) = random.choice(DEPTHS), random.choice(PAIRS)
    place = random.randrange(len(found) + 1)
    end = min(len(found), place + random.choice((0, 1, 1, 3)))
    found[end:end] = [closing * depth] * (random.random() < 0.8)
    found[place:place] = [opening * depth]
    return b"".join(found)


def _spliced(random: Random, sample: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else sample
    return sample[: _slice(random, len(sample))[0]] + other[_slice(random, len(other))[0] :]


def damaged_json(random: Random, sample: Json, others: Sequence[Json]) -> bytes:
    """The text of the value ``sample`` after changes of what is in it, and now and then of its text."""
    changed = deepcopy(sample)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        changed = _of_values(random, changed, others)
    depth, (opening, closing) = random.choice(DEPTHS), random.choice((("[", "]"), ('{"a":', "}")))
    text = json.dumps(changed).replace(f'"{NESTED}"', opening * depth + "1" + closing * depth)
    written = text.encode()
    if random.random() < 0.1:
        return damaged(random, written, [json.dumps(each).encode() for each in others[:1]])
    return written


def places(value: Json) -> list[tuple[Json, Any]]:
    """All that is in a JSON value: by what it is in, and its key or index there."""
    found: list[tuple[Json, Any]] = []
    todo = [value]
    while todo:
        inside = todo.pop()
        for key in list(inside) if isinstance(inside, dict) else range(len(inside)):
            found.append((inside, key))
            if isinstance(inside[key], list | dict):
                todo.append(inside[key])
    return found


def _of_values(random: Random, value: Json, others: Sequence[Json]) -> Json:
    found = places(value) if isinstance(value, list | dict) else []
    if not found or random.random() < 0.01:
        return random.choice(JUNK)
    # The few entries near the top are as likely as the many far below.
    inside, key = random.choice(found if random.random() < 0.5 else found[:12])
    other, place = random.choice(found)
    match random.choice(("delete", "junk", *["number"] * 5, "copy", "copy", "double", "rename", "other")):
        case "delete":
            del inside[key]
        case "number" if numbers := [(of, at) for of, at in found if type(of[at]) is int]:
            inside, key = random.choice(numbers)
            inside[key] += random.choice((-1, 1, 2) if random.random() < 0.7 else (1_000, 2**32, 2**64, -(2**63)))
        case "copy":
            inside[key] = deepcopy(other[place])
        case "double" if isinstance(inside, list):
            inside[key:key] = [deepcopy(inside[key])] * random.choice((1, 1, 1, 300))
        case "rename" if isinstance(inside, dict):
            inside[random.choice(("", "a", "set", "map", key.upper()))] = inside.pop(key)
        case "other" if others:
            donor = random.choice(others)
            inside[key] = deepcopy(random.choice(list(donor.values())) if isinstance(donor, dict) and donor else donor)
        case _:
            inside[key] = deepcopy(random.choice(JUNK))
    return value
