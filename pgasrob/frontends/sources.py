"""Tells C files that are programs (they have a `main`) from those that are further units of programs."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pgasrob.diagnostics import SourceError
from pgasrob.program.files import DISK, Files
from pgasrob.program.parser import read_text

if TYPE_CHECKING:
    from pgasrob.frontends.options import BuildOptions, Flags, FrontEnd

BLANKS = re.compile(r"/\*(?s:.*?)(?:\*/|\Z)|//[^\n]*|\"(?:[^\"\\\n]++|\\(?s:.))*+\"?|'(?:[^'\\\n]++|\\(?s:.))*+'?")
"""Comments, strings and characters, also those that nothing ends: else each beginning is looked for to the end."""
MAIN = re.compile(r"\bmain\s*\(")
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"([^\"\n]*\.c)\"", re.MULTILINE)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)


Asked = Callable[[str, "BuildOptions", Files], bool]


def apart(
    files: Sequence[str], front_end: FrontEnd, files_in: Files = DISK, asked: Asked | None = None
) -> tuple[list[str], FrontEnd]:
    """The ``files`` that are programs, and ``front_end`` with the further units that the others are.

    A C file without `main` is a unit where another one has it; else it is checked as a program, and what it lacks is an
    error. ``asked``: :func:`has_main`, within limits."""
    others = parts(files, front_end, files_in, asked)
    programs = [file for file in files if file not in set(others)]
    if not any(file.endswith(".c") for file in programs):
        return list(files), front_end
    return programs, replace(front_end, units=tuple(dict.fromkeys((*front_end.units, *others))))


def parts(files: Iterable[str], front_end: FrontEnd, files_in: Files = DISK, asked: Asked | None = None) -> list[str]:
    """The C files among ``files`` that have no `main`."""
    build, asked = front_end.build_options(), asked or has_main
    return [file for file in dict.fromkeys(files) if file.endswith(".c") and not asked(file, build, files_in)]


def included(files: Sequence[str]) -> set[str]:
    """The names, without folders, of the C files that some of ``files`` include."""
    return {
        os.path.basename(match[1])
        for file in files
        if file.endswith(".c") and DISK.is_file(file)
        for match in INCLUDED.finditer(read_text(file))
    }


def has_main(file: str, build: BuildOptions, files: Files = DISK) -> bool:
    """Whether the C ``file`` has a function `main` as it is compiled, or cannot be read, which is reported when it is
    loaded."""
    try:
        source = files.read(file).decode(errors="replace")
    except (OSError, ValueError):
        return True
    text = BLANKS.sub(" ", source)
    places = [match.start() for match in MAIN.finditer(text)]
    if not places:
        return False
    ways = [way.for_text(source) for way in build.of(file)]
    # A `main` that stands in no `#if` is there, if no macro renames it; that of a file that tests itself depends on
    # macros.
    conditions = list(CONDITIONAL.finditer(text))
    depths = [0, *accumulate(1 if match[1] == "if" else -1 for match in conditions)]
    starts = [match.start() for match in conditions]
    renamed = any(head == "main" for way in ways for head, _ in way.macros)
    if not renamed and any(not depths[bisect_left(starts, place)] for place in places):
        return True
    return any(_remains(file, source, way, files) for way in ways)


def _remains(file: str, text: str, flags: Flags, files: Files) -> bool:
    """Whether the preprocessor leaves a `main` in ``text``, or has errors, or too much to do here: the check has it
    within its limits."""
    from pgasrob.frontends.apis.registry import Registry
    from pgasrob.frontends.c.preprocessor import MAX_EXPANSION, preprocess
    from pgasrob.frontends.c.tokens import Source

    try:
        found = preprocess(Source(file, text), Registry(), flags, files, most=MAX_EXPANSION // 10)
    except SourceError:
        return True
    return ("main", "(") in pairwise(token.text for token in found.tokens)
