"""Takes expected verdicts from the headers of a key: files that the authors of the programs do not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pgasrob.diagnostics import SourceError
from pgasrob.program.expectation import read_expectation
from pgasrob.program.files import DISK, files_below
from pgasrob.program.parser import read_source
from pgasrob.robustness.load import load


class BadKey(ValueError):
    """The key is not what can be compared with; the message says which file and why."""


@dataclass(frozen=True, slots=True)
class Header:
    """The text of the program of the key in the file ``path``, and the node counts ``counts`` that it is about."""

    path: str
    text: str
    counts: tuple[int, ...]


def headers(key: str, files: Sequence[str], suffixes: tuple[str, ...]) -> tuple[Mapping[str, Header], list[str]]:
    """The headers of the folder ``key`` for those of ``files`` that have one there, and the programs of the key that no
    file stands for.

    `students/ada/week1/a.c` stands for `KEY/week1/a.c` where that is there, else for `KEY/a.c`: the longest end of the
    path that the key has. The node counts are those that the header names, else that of the program of the key. Raises
    :class:`BadKey`.
    """
    left = {file.relative_to(key).as_posix(): file for file in sorted(files_below(key, suffixes))}
    if not left:
        raise BadKey(f"{key} is no folder with {' and '.join(suffixes)} files")
    known = {name: _header(file) for name, file in left.items()}
    found: dict[str, Header] = {}
    for file in files:
        parts = PurePath(file).parts
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        name = next((end for end in ends if end in known), None)
        if name is not None:
            found[file] = known[name]
            left.pop(name, None)
    return found, list(map(str, left.values()))


def _header(path: Path) -> Header:
    try:
        text = read_source(path, DISK)
        expectation = read_expectation(text, str(path))
        if expectation is None or not expectation.cases:
            raise BadKey(f"{path}: the key says of each program what is expected, as in `// expect: robust`")
        counts = expectation.counts or (load(path).default_count,)
    except SourceError as error:
        raise BadKey(str(error)) from None
    return Header(str(path), text, counts)
