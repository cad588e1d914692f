"""What stands behind the records of a trace: lines, names, the sums of its parts, and which sources it was made of."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from pgasrob import file_input
from pgasrob.runtime.record.records import ADDRESSES, Place
from pgasrob.runtime.record.traced_variables import LARGEST_SOURCE, Variables, variables_json, variables_of

LINES_AT_ONCE = 20_000
MOST_LINES = 1 << 31
DISCRIMINATOR = re.compile(r" \(discriminator \d+\)$")
"""What addr2line puts behind a line that is several blocks of code."""
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Appendix:
    """``sites``: file, line and function of the places in the program. ``symbols``: module, offset, size and name of
    its data. ``sums``: those of the header and the chunks. ``root``: the folder of the program's sources, of which
    ``hashes`` has SHA-256 sums. ``variables``: what debug information has beside these."""

    sites: Mapping[Place, tuple[str, int, str]] = field(default_factory=dict)
    symbols: Sequence[tuple[int, int, int, str]] = ()
    sums: Sequence[int] = ()
    root: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
    variables: Variables = field(default_factory=Variables)

    def source(self, file: str) -> str:
        """The text of a source that the program was made of; "" where it is not there any more, has changed, or is no
        such source: a trace may name any file of the machine that it is read on."""
        with suppress(OSError, ValueError):
            path, root = os.path.realpath(file), os.path.realpath(self.root)
            below = os.path.isabs(self.root) and path.startswith(root + os.sep)  # so nothing is below "/"
            if file in self.hashes and below and os.path.getsize(path) <= LARGEST_SOURCE:
                content = file_input.read(path)
                if hashlib.sha256(content).hexdigest() == self.hashes[file]:
                    return content.decode(errors="replace")
        return ""


# Reading


def appendix_of(text: bytes) -> Appendix:
    """What an appendix says. Raises ``ValueError`` where it is none."""
    read = json.loads(text)
    match read:
        case {
            "files": list(files),
            "functions": list(functions),
            "sites": list(sites),
            "symbols": list(symbols),
        }:
            names = [*map(_name, files), ""], [*map(_name, functions), ""]
            root, hashes, sums = read.get("root", ""), read.get("hashes", {}), read.get("sums", [])
        case _:
            raise ValueError("it is no list of files, functions, sites and symbols")
    if not isinstance(hashes, dict) or not isinstance(sums, list):
        raise ValueError("it has no sums")
    for file, sum in hashes.items():
        if not isinstance(sum, str) or not _HASH.fullmatch(sum):
            raise ValueError(f"{file} has no sum")
    return Appendix(
        dict(_site(site, *names) for site in sites),
        [_symbol(symbol) for symbol in symbols],
        [_number(sum, 1 << 32) for sum in sums],
        _name(root),
        {_name(file): sum for file, sum in hashes.items()},
        variables_of(read),
    )


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is no name")
    return value if value.isprintable() else ascii(value)[1:-1]


def _number(value: object, most: int, least: int = 0) -> int:
    if type(value) is not int or not least <= value < most:
        raise ValueError(f"{value!r:.40} is no number that can be there")
    return value


def _site(site: object, files: Sequence[str], functions: Sequence[str]) -> tuple[Place, tuple[str, int, str]]:
    match site:
        case [module, offset, file, line, function]:
            place = Place(_number(module, ADDRESSES), _number(offset, ADDRESSES))
            named = files[_number(file, len(files) - 1, -1)], functions[_number(function, len(functions) - 1, -1)]
            return place, (named[0], _number(line, MOST_LINES), named[1])
    raise ValueError(f"{site!r:.40} is no place in the program")


def _symbol(symbol: object) -> tuple[int, int, int, str]:
    match symbol:
        case [module, offset, size, name]:
            return _number(module, ADDRESSES), _number(offset, ADDRESSES), _number(size, ADDRESSES), _name(name)
    raise ValueError(f"{symbol!r:.40} is no variable")


# Writing


class Named(Protocol):
    """What a trace has, as :class:`~pgasrob.runtime.record.trace.Contents`."""

    modules: dict[int, str]
    places: set[tuple[int, int]]
    frames: set[tuple[int, int]]
    allocations: set[tuple[int, int]]


def appendix_text(of: Named, sums: Sequence[int]) -> bytes:
    """The appendix of a trace with this in it."""
    modules, places = of.modules, of.places
    known: dict[Place, tuple[str, int, str]] = {}
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    sites: list[list[int]] = []
    symbols: list[list[object]] = []
    for module, path in sorted(modules.items()):
        offsets = sorted(offset for inside, offset in places if inside == module)
        for offset, (function, file, line) in zip(offsets, lines(path, offsets), strict=True):
            known[Place(module, offset)] = file, line, function
            numbers = [files.setdefault(file, len(files)) if file else -1]
            numbers += [line, functions.setdefault(function, len(functions)) if function else -1]
            sites.append([module, offset, *numbers])
        symbols += [[module, *symbol] for symbol in data_symbols(path)]
    lists: dict[str, object] = {"files": list(files), "functions": list(functions), "sites": sites, "symbols": symbols}
    named = [file for file, count in Counter(list(files)[site[2]] for site in sites if site[2] >= 0).most_common()]
    root = _root([file for file in named if is_own(file)])
    lists |= variables_json(
        modules, known, *({Place(*each) for each in named} for named in (of.frames, of.allocations))
    )
    text = {**lists, "root": root, "hashes": dict(_hashes(named)), "sums": sums}
    return json.dumps(text, separators=(",", ":")).encode()


def _root(files: Sequence[str]) -> str:
    """The folder that has all ``files``, or else that of the first."""
    folders = [os.path.dirname(os.path.realpath(file)) for file in files if os.path.isabs(file)]
    common = os.path.commonpath(folders) if folders else ""
    return common if common != os.sep else folders[0]


def _hashes(files: Iterable[str]) -> Iterable[tuple[str, str]]:
    for file in files:
        with suppress(OSError, ValueError):
            yield file, hashlib.sha256(file_input.read(file, LARGEST_SOURCE)).hexdigest()


def is_own(file: str) -> bool:
    """Whether a source is the program's, and none of the compiler or of the system."""
    return not os.path.normpath(file).startswith("/usr/")


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
        own = [frame for frame in frames if frame[1] and is_own(frame[1])]
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
